// Reads and removes the folder of one checkpoint. The folder has manifest.json and
// the files of tensors. The manifest has the length and the CRC-32 of each file.

#include "runtime/src/pieces/StepFolder.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr const char *kStepPrefix = "step-";

/// Whether a file of a checkpoint can be called `name`. AtomicFile's temporary names for
/// these files count too.
bool isOwnName(const std::string &name) {
  const size_t temporary = name.rfind(".tmp");
  const std::string file =
      temporary != std::string::npos &&
              name.find_first_not_of("0123456789", temporary + 4) == std::string::npos
          ? name.substr(0, temporary)
          : name;
  return file == kWholeStateFile || file == kManifest || isPieceFileName(file);
}

std::vector<std::string> entriesOf(int folder) {
  std::vector<std::string> out;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!listing) {
    if (copy >= 0)
      ::close(copy);
    return {""}; // the folder cannot be read; this entry is not an own name, so nothing is removed
  }
  while (const dirent *entry = ::readdir(listing)) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..")
      out.push_back(name);
  }
  ::closedir(listing);
  return out;
}

} // namespace

std::string stepFolderName(uint64_t step) { return kStepPrefix + std::to_string(step); }

void forEachNumbered(const std::string &directory, const std::string &prefix,
                     const std::function<void(const char *, uint64_t)> &see) {
  DIR *listing = ::opendir(directory.c_str());
  if (!listing)
    return;
  while (const dirent *entry = ::readdir(listing)) {
    if (std::strncmp(entry->d_name, prefix.c_str(), prefix.size()) != 0)
      continue;
    const char *digits = entry->d_name + prefix.size();
    char *end = nullptr;
    errno = 0;
    const uint64_t number = std::strtoull(digits, &end, 10);
    if (errno == 0 && std::to_string(number) == digits)
      see(entry->d_name, number);
  }
  ::closedir(listing);
}

std::vector<uint64_t> listCheckpoints(const std::string &directory) {
  std::vector<uint64_t> steps;
  forEachNumbered(directory, kStepPrefix,
                  [&](const char *, uint64_t step) { steps.push_back(step); });
  std::sort(steps.rbegin(), steps.rend());
  return steps;
}

std::vector<std::string> filesOfCheckpoint(const std::string &path) {
  std::vector<std::string> out = {path + "/" + kManifest};
  const Fd folder(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const std::string &entry : entriesOf(folder.get()))
    if (entry == kWholeStateFile || isPieceFileName(entry))
      out.push_back(path + "/" + entry);
  std::sort(out.begin() + 1, out.end());
  return out;
}

dpc_status_t checkHoldsCheckpoints(const std::string &directory) {
  if (::access((directory + "/" + kManifest).c_str(), F_OK) != 0)
    return DPC_OK;
  const size_t last = directory.find_last_not_of('/');
  const size_t slash = last == std::string::npos ? last : directory.rfind('/', last);
  const std::string parent = slash == std::string::npos ? "." : directory.substr(0, slash);
  return fail(
      DPC_INVALID,
      "%s is a checkpoint itself: the folder to name is %s, of which the newest one is read",
      directory.c_str(), parent.empty() ? "/" : parent.c_str());
}

dpc_status_t StepFolder::open(const std::string &directory, const std::string &folderName) {
  name = folderName;
  path = directory + "/" + name;
  parent = Fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent.valid())
    return fail(DPC_IO, "%s: %s", directory.c_str(), std::strerror(errno));
  folder =
      Fd(::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
  if (folder.valid())
    return DPC_OK;
  const int error = errno;
  struct stat info;
  const bool known = ::fstatat(parent.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0;
  if (known && S_ISLNK(info.st_mode))
    return fail(DPC_INVALID, "%s is a symbolic link", path.c_str());
  return fail(known && error == ENOTDIR ? DPC_INVALID : DPC_IO, "%s: %s", path.c_str(),
              std::strerror(error));
}

dpc_status_t StepFolder::readManifest(Manifest *out) const {
  Mapping text;
  const std::string file = pathOf(kManifest);
  if (dpc_status_t status = text.openIn(folder.get(), kManifest, file.c_str()))
    return status;
  if (dpc_status_t status = parseManifest(text.data(), text.size(), file, out))
    return status;
  for (const std::string &entry : entriesOf(folder.get()))
    if (isPieceFileName(entry) &&
        std::none_of(out->files.begin(), out->files.end(),
                     [&](const ManifestFile &listed) { return listed.name == entry; }))
      return fail(DPC_INVALID, "%s is not in its manifest", pathOf(entry).c_str());
  return DPC_OK;
}

dpc_status_t StepFolder::checkStep(const Manifest &manifest) const {
  if (stepFolderName(manifest.step) == name)
    return DPC_OK;
  return fail(DPC_INVALID, "%s: its manifest is of step %llu", path.c_str(),
              static_cast<unsigned long long>(manifest.step));
}

dpc_status_t StepFolder::mapFile(const ManifestFile &file, Mapping *out) const {
  const std::string full = pathOf(file.name);
  struct stat info;
  if (::fstatat(folder.get(), file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0 &&
      errno == ENOENT)
    return fail(DPC_INVALID, "%s: No such file, but its manifest lists it", full.c_str());
  if (dpc_status_t status = out->openIn(folder.get(), file.name.c_str(), full.c_str()))
    return status;
  if (out->size() == file.bytes)
    return DPC_OK;
  return fail(DPC_INVALID, "%s has %s, its manifest says %llu", full.c_str(),
              countOf(out->size(), "byte").c_str(), static_cast<unsigned long long>(file.bytes));
}

dpc_status_t StepFolder::checkFile(const ManifestFile &file) const {
  Mapping contents;
  if (dpc_status_t status = mapFile(file, &contents))
    return status;
  if (contents.checksum() == file.crc)
    return DPC_OK;
  return fail(DPC_INVALID, "%s: its checksum does not match its manifest (damaged)",
              pathOf(file.name).c_str());
}

bool StepFolder::holdsOnlyOwnFiles() const {
  for (const std::string &entry : entriesOf(folder.get()))
    if (!isOwnName(entry))
      return false;
  return true;
}

void StepFolder::removeOwnFiles() {
  for (const std::string &entry : entriesOf(folder.get()))
    if (isOwnName(entry))
      ::unlinkat(folder.get(), entry.c_str(), 0);
  ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
}

} // namespace dpc

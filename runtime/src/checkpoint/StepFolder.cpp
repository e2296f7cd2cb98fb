// Reads, and removes, the folder of one checkpoint: `manifest.json` and the
// state file, whose length and CRC-32 the manifest holds.

#include "runtime/src/checkpoint/StepFolder.h"

#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

namespace dpc {

namespace {

/// A checkpoint's file, or one that AtomicFile writes beside it.
bool isOwnName(const std::string &name) {
  for (const char *file : {kStateFile, kManifest}) {
    const std::string temporary = std::string(file) + ".tmp";
    if (name == file ||
        (name.rfind(temporary, 0) == 0 &&
         name.find_first_not_of("0123456789", temporary.size()) == std::string::npos))
      return true;
  }
  return false;
}

std::vector<std::string> entriesOf(int folder) {
  std::vector<std::string> out;
  const int copy = ::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *listing = copy < 0 ? nullptr : ::fdopendir(copy);
  if (!listing) {
    if (copy >= 0)
      ::close(copy);
    return {""}; // cannot be known: an entry that is nobody's
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

std::string stepFolderName(uint64_t step) { return "step-" + std::to_string(step); }

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
  nlohmann::json json =
      nlohmann::json::parse(text.data(), text.data() + text.size(), nullptr, false);
  auto number = [&](const char *key, uint64_t *value) {
    if (!json.is_object() || !json.contains(key) || !json[key].is_number_unsigned())
      return false;
    *value = json[key].get<uint64_t>();
    return true;
  };
  // It ends as it was written: a shorter or longer one is damaged too.
  if (text.size() == 0 || text.data()[text.size() - 1] != '\n')
    json = nullptr;
  uint64_t version = 0, crc = 0;
  if (!number("version", &version))
    return fail(DPC_INVALID, "%s: not a checkpoint's manifest", file.c_str());
  if (version != 1)
    return fail(DPC_INVALID, "%s: checkpoint version %llu, this program reads 1", file.c_str(),
                static_cast<unsigned long long>(version));
  if (!number("step", &out->step) || !number("seed", &out->seed) || !number("bytes", &out->bytes) ||
      !number("crc32", &crc) || crc > UINT32_MAX)
    return fail(DPC_INVALID, "%s: not a checkpoint's manifest", file.c_str());
  out->crc = static_cast<uint32_t>(crc);
  out->run = json.contains("run") && json["run"].is_string() ? json["run"].get<std::string>() : "";
  if (stepFolderName(out->step) != name)
    return fail(DPC_INVALID, "%s: its manifest is of step %llu", path.c_str(),
                static_cast<unsigned long long>(out->step));
  return DPC_OK;
}

dpc_status_t StepFolder::mapState(Mapping *out) const {
  return out->openIn(folder.get(), kStateFile, pathOf(kStateFile).c_str());
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

dpc_status_t checkContents(const Mapping &state, const Manifest &manifest,
                           const std::string &path) {
  if (state.size() != manifest.bytes)
    return fail(DPC_INVALID, "%s has %zu bytes, its manifest says %llu", path.c_str(), state.size(),
                static_cast<unsigned long long>(manifest.bytes));
  if (::crc32_z(0, reinterpret_cast<const unsigned char *>(state.data()), state.size()) !=
      manifest.crc)
    return fail(DPC_INVALID, "%s: its checksum does not match its manifest (damaged)",
                path.c_str());
  return DPC_OK;
}

} // namespace dpc

// Decides which checkpoints a run may remove or replace: undamaged checkpoints that
// have the id of the run, and unfinished checkpoints whose writers have died.

#include "runtime/src/checkpoint/Rotation.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/pieces/StepFolder.h"
#include "runtime/src/pieces/TensorFiles.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr size_t kKept = 3;
constexpr const char *kMakingPrefix = ".making-";

/// Returns DPC_OK if this run wrote the checkpoint and the checkpoint is undamaged.
dpc_status_t checkOwn(const StepFolder &folder, CheckpointRun &run) {
  Manifest manifest;
  if (dpc_status_t status = folder.readManifest(&manifest))
    return status;
  if (dpc_status_t status = folder.checkStep(manifest))
    return status;
  if (run.id.empty() || manifest.run != run.id)
    return fail(DPC_INVALID, "another run's");
  TensorFiles files; // checks that the files have the tensors that the manifest lists
  if (dpc_status_t status = files.openFolder(folder, manifest))
    return status;
  for (const ManifestFile &file : manifest.files) {
    struct stat info;
    if (::fstatat(folder.get(), file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0)
      return fail(DPC_IO, "%s: %s", folder.pathOf(file.name).c_str(), std::strerror(errno));
    if (run.sound.count(fileStateOf(info)))
      continue;
    if (dpc_status_t status = folder.checkFile(file))
      return status;
    run.sound.insert(fileStateOf(info));
  }
  return DPC_OK;
}

/// Removes a checkpoint. Renames it first, so that no reader finds a checkpoint with
/// missing files.
void removeCheckpoint(const std::string &directory, const std::string &name) {
  StepFolder folder;
  if (::rename((directory + "/" + name).c_str(), (directory + "/" + makingName()).c_str()) == 0 &&
      folder.open(directory, makingName()) == DPC_OK)
    folder.removeOwnFiles();
}

/// Renames a file or folder that has the name of a checkpoint, so that the name is free
/// and no program takes the file or folder for a checkpoint. `why` is for the note.
dpc_status_t moveAside(const std::string &directory, const std::string &name,
                       const std::string &why) {
  for (unsigned i = 1;; ++i) {
    const std::string aside = name + ".aside-" + std::to_string(i), from = directory + "/" + name,
                      to = directory + "/" + aside;
    struct stat info;
    if (::lstat(to.c_str(), &info) == 0)
      continue;
    if (::rename(from.c_str(), to.c_str()) != 0)
      return fail(DPC_IO, "%s: cannot be moved to %s: %s", from.c_str(), to.c_str(),
                  std::strerror(errno));
    std::fprintf(stderr, "note: moved to %s, since it is not overwritten: %s\n", aside.c_str(),
                 why.c_str());
    return DPC_OK;
  }
}

} // namespace

CheckpointRun::FileState fileStateOf(const struct stat &info) {
  return {info.st_dev, info.st_ino, info.st_size, info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
}

std::string makingName() { return kMakingPrefix + std::to_string(::getpid()); }

dpc_status_t identify(CheckpointRun *run) {
  unsigned char random[16];
  if (!run->id.empty())
    return DPC_OK;
  if (::getrandom(random, sizeof random, 0) != sizeof random)
    return fail(DPC_IO, "no random numbers: %s", std::strerror(errno));
  run->id = toHex(random, sizeof random);
  return DPC_OK;
}

void removeOldCheckpoints(const std::string &directory, CheckpointRun *run) {
  size_t kept = 0;
  for (uint64_t step : listCheckpoints(directory)) {
    StepFolder folder;
    if (folder.open(directory, stepFolderName(step)) != DPC_OK || checkOwn(folder, *run) != DPC_OK)
      continue;
    if (kept < kKept)
      ++kept;
    else if (folder.holdsOnlyOwnFiles())
      removeCheckpoint(directory, stepFolderName(step));
  }
}

void removeUnfinished(const std::string &directory) {
  std::vector<std::string> left;
  forEachNumbered(directory, kMakingPrefix, [&](const char *name, uint64_t pid) {
    struct stat info;
    if (pid > 0 && pid <= INT32_MAX && ::lstat((directory + "/" + name).c_str(), &info) == 0 &&
        hasEndedSince(static_cast<pid_t>(pid), info.st_mtim))
      left.push_back(name);
  });
  for (const std::string &name : left) {
    StepFolder folder;
    // If the writer runs on another host or in another container, its process number
    // means nothing here. But a running writer holds a lock on its folder.
    if (folder.open(directory, name) == DPC_OK &&
        (::flock(folder.get(), LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK))
      folder.removeOwnFiles();
  }
}

dpc_status_t placeCheckpoint(const std::string &directory, const std::string &making, uint64_t step,
                             CheckpointRun *run) {
  const std::string name = stepFolderName(step), from = directory + "/" + making,
                    target = directory + "/" + name;
  auto cannotBeWritten = [&] {
    return fail(DPC_IO, "%s: cannot be written: %s", target.c_str(), std::strerror(errno));
  };
  struct stat info;
  if (::lstat(target.c_str(), &info) == 0) {
    StepFolder before;
    dpc_status_t status = before.open(directory, name);
    if (status == DPC_OK)
      status = checkOwn(before, *run);
    if (status == DPC_OK && before.holdsOnlyOwnFiles()) {
      if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0) {
        if (before.open(directory, making) == DPC_OK)
          before.removeOwnFiles();
        return syncDirectoryOf(target);
      }
      status = fail(DPC_IO, "%s: %s", target.c_str(), std::strerror(errno));
    }
    const std::string why = status ? dpc_last_error() : "it has other files";
    if (dpc_status_t moved = moveAside(directory, name, target + ": " + why))
      return moved;
  }
  if (::rename(from.c_str(), target.c_str()) != 0)
    return cannotBeWritten();
  return syncDirectoryOf(target);
}

} // namespace dpc

// Writes checkpoints. A checkpoint is a folder that gets its final name when it is
// complete. Each rank writes a file with its pieces into the folder. At the end rank 0
// writes the manifest and renames the folder.
#include "runtime/src/checkpoint/CheckpointSaver.h"

#include "dpc/schedule.h"
#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/checkpoint/Rotation.h"
#include "runtime/src/session/StateFiles.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

CheckpointSaver::~CheckpointSaver() {
  if (name.empty())
    return;
  const std::string cause = dpc_last_error();
  session.isWriting = nullptr;
  writer.finish();
  if (first() && folder.open(directory, name) == DPC_OK)
    folder.removeOwnFiles();
  // The message stays that of the failure which ends the run. The writer may have failed only now,
  // because rank 0 has removed the folder.
  fail(DPC_PEER, "%s", cause.c_str());
}

/// Creates the folder in which the ranks prepare the checkpoint. Called only on rank 0.
dpc_status_t CheckpointSaver::openFolder(const std::string &into) {
  if (dpc_status_t status = identify(&session.checkpointRun))
    return status;
  if (::mkdir(into.c_str(), 0777) == 0) {
    if (dpc_status_t status = syncDirectoryOf(into))
      return status;
  } else if (errno != EEXIST) {
    return fail(DPC_IO, "%s: cannot be made: %s", into.c_str(), std::strerror(errno));
  }
  removeUnfinished(into);
  if (folder.open(into, makingName()) == DPC_OK)
    folder.removeOwnFiles(); // an earlier process with the same number has left this folder
  if (::mkdir((into + "/" + makingName()).c_str(), 0777) != 0)
    return fail(DPC_IO, "%s: cannot be written: %s", into.c_str(), std::strerror(errno));
  directory = into;
  name = makingName();
  if (dpc_status_t status = folder.open(directory, name))
    return status;
  // The lock tells other processes that the writer still runs. If the file system has
  // no locks, the process number in the folder's name tells them.
  ::flock(folder.get(), LOCK_EX | LOCK_NB);
  return DPC_OK;
}

dpc_status_t CheckpointSaver::begin(const std::string &into) {
  if (dpc_status_t status = finish())
    return status;
  if (plan.empty())
    if (dpc_status_t status = planWriting(session.program, &plan))
      return session.failed(status);
  step = session.control.step;
  char making[64] = {};
  if (first()) {
    if (dpc_status_t status = openFolder(into))
      return session.failed(status);
    std::snprintf(making, sizeof making, "%s", name.c_str());
  }
  if (dpc_status_t status = session.broadcast(making, sizeof making))
    return status;
  directory = into;
  name = making;
  struct stat info;
  if (::stat(path().c_str(), &info) != 0)
    return session.failed(fail(DPC_IO,
                               "%s: rank %u does not see what rank 0 makes there (%s): ranks of "
                               "several machines need a folder that they share",
                               into.c_str(), session.options.rank, std::strerror(errno)));
  if (dpc_status_t status =
          writer.begin(session, plan, path() + "/" + pieceFileName(session.options.rank)))
    return session.failed(status);
  session.isWriting = &writer.isBusy();
  session.writingAgreed = true; // the vote at the end of an entry will clear it
  return DPC_OK;
}

dpc_status_t CheckpointSaver::writeManifest(const Manifest &manifest) const {
  const std::string text = manifestText(manifest);
  AtomicFile file;
  if (dpc_status_t status = file.create(path() + "/" + kManifest))
    return status;
  if (dpc_status_t status = file.write(text.data(), text.size()))
    return status;
  return file.commit();
}

/// Opens the written folder like a reader: the manifest, each file that it lists, and
/// the tensors of each state. The contents of files need no check here, because each
/// rank has already checked its own file.
dpc_status_t CheckpointSaver::readBack() const {
  Manifest manifest;
  TensorFiles files;
  std::vector<StateSource> sources;
  std::vector<std::string> notes;
  dpc_status_t status = folder.readManifest(&manifest);
  if (status == DPC_OK)
    status = files.openFolder(folder, manifest);
  if (status == DPC_OK)
    status = findAllStates(session.program, files, &sources, &notes);
  return status ? failWithin(DPC_IO, "the checkpoint of step %llu cannot be read back",
                             static_cast<unsigned long long>(step))
                : status;
}

/// Records that the files are undamaged, because the ranks have just read them back.
/// So removeOldCheckpoints need not read them again.
void CheckpointSaver::rememberSound(const Manifest &manifest) const {
  for (const ManifestFile &file : manifest.files) {
    struct stat info;
    if (::fstatat(folder.get(), file.name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        static_cast<uint64_t>(info.st_size) == file.bytes)
      session.checkpointRun.sound.insert(fileStateOf(info));
  }
}

/// Writes the manifest when all files are complete, and gives the folder its final
/// name. Called only on rank 0.
dpc_status_t CheckpointSaver::place(const std::vector<char> &written) {
  Manifest manifest;
  manifest.step = step;
  manifest.seed = session.control.seed;
  manifest.batch = session.program.batch;
  if (session.checkpointRun.order)
    manifest.order = session.checkpointRun.order;
  if (!dpc_schedule_has_end(&session.schedule, 0))
    manifest.scheduleTotal = session.options.schedule_total;
  manifest.run = session.checkpointRun.id;
  manifest.program = session.program.name;
  manifest.command = session.program.command;
  std::vector<uint32_t> fileOf(session.options.world_size);
  for (uint32_t r = 0; r < session.options.world_size; ++r) {
    if (std::none_of(plan.begin(), plan.end(),
                     [&](const PlannedPiece &piece) { return piece.rank == r; }))
      continue;
    Written its;
    std::memcpy(&its, written.data() + r * sizeof its, sizeof its);
    fileOf[r] = static_cast<uint32_t>(manifest.files.size());
    manifest.files.push_back({pieceFileName(r), its.bytes, static_cast<uint32_t>(its.crc)});
  }
  for (uint32_t i = 0; i < session.program.state_count; ++i) {
    const dpc_state_t &state = session.program.states[i];
    manifest.tensors.push_back(
        {state.name, state.dtype, {state.shape, state.shape + state.dim_count}, {}});
  }
  for (const PlannedPiece &piece : plan)
    manifest.tensors[piece.state].pieces.push_back({fileOf[piece.rank], piece.segments});
  if (dpc_status_t status = writeManifest(manifest))
    return status;
  if (dpc_status_t status = readBack())
    return status;
  rememberSound(manifest);
  return placeCheckpoint(directory, name, step, &session.checkpointRun);
}

dpc_status_t CheckpointSaver::finish() {
  if (name.empty())
    return DPC_OK;
  session.isWriting = nullptr;
  if (dpc_status_t status = writer.finish())
    return session.failed(status);
  const Written mine = {writer.bytes(), writer.checksum()};
  std::vector<char> all;
  if (dpc_status_t status = session.collect(&mine, sizeof mine, &all))
    return status;
  if (first()) {
    if (dpc_status_t status = place(all))
      return session.failed(status);
    removeOldCheckpoints(directory, &session.checkpointRun);
  }
  name.clear();
  return session.agree(DPC_OK);
}

} // namespace dpc

// Reads the files of --postmortem from the folders of all hosts.

#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/postmortem/Postmortem.h"
#include "runtime/src/recorder/Recorder.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

/// The paths of the records in a folder.
dpc_status_t listRecords(const std::string &folder, std::vector<std::string> *out) {
  const std::unique_ptr<DIR, int (*)(DIR *)> listing(::opendir(folder.c_str()), ::closedir);
  if (!listing)
    return fail(DPC_IO, "%s: cannot be read: %s", folder.c_str(), std::strerror(errno));
  const size_t before = out->size();
  while (const dirent *entry = ::readdir(listing.get())) {
    uint32_t rank = 0;
    int end = 0;
    if (std::sscanf(entry->d_name, "rank-%u.ops%n", &rank, &end) == 1 &&
        dpc_recorder::fileOf(rank) == entry->d_name)
      out->push_back(folder + "/" + entry->d_name);
  }
  if (out->size() == before)
    return fail(DPC_INVALID, "%s: has no record of a rank (rank-N.ops)", folder.c_str());
  std::sort(out->begin() + std::ptrdiff_t(before), out->end());
  return DPC_OK;
}

dpc_status_t readFile(const std::string &path, RankRecord *out) {
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat info;
  if (!file.valid() || ::fstat(file.get(), &info) != 0)
    return fail(DPC_IO, "%s: cannot be read: %s", path.c_str(), std::strerror(errno));
  std::vector<char> bytes(kRecorderBytes + 1); // one more, to notice that a file is too long
  size_t size = 0;
  while (S_ISREG(info.st_mode) && size < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + size, bytes.size() - size);
    if (got < 0)
      return fail(DPC_IO, "%s: cannot be read: %s", path.c_str(), std::strerror(errno));
    if (got == 0)
      break;
    size += static_cast<size_t>(got);
  }
  const dpc_status_t status = readImage(bytes.data(), size, out);
  return status ? failWithin(status, "%s", path.c_str()) : dpc_status_t(DPC_OK);
}

/// Compares a record with the records that were read before.
dpc_status_t checkFits(const RankRecord &record, const std::string &path,
                       const std::vector<RankRecord> &others,
                       const std::vector<std::string> &paths) {
  for (size_t i = 0; i < others.size(); ++i) {
    const char *what = others[i].runId != record.runId         ? "another run"
                       : others[i].planHash != record.planHash ? "another program"
                       : others[i].worldSize != record.worldSize
                           ? "a run with another number of ranks"
                           : nullptr;
    if (what)
      return fail(DPC_INVALID, "%s: is of %s than %s", path.c_str(), what, paths[i].c_str());
    if (others[i].rank == record.rank)
      return fail(DPC_INVALID, "%s: is of rank %u, as %s is", path.c_str(), record.rank,
                  paths[i].c_str());
  }
  return DPC_OK;
}

} // namespace

dpc_status_t readRecords(const std::vector<std::string> &folders, std::vector<RankRecord> *out) {
  std::vector<std::string> paths;
  for (const std::string &folder : folders)
    if (dpc_status_t status = listRecords(folder, &paths))
      return status;
  for (const std::string &path : paths) {
    RankRecord record;
    if (dpc_status_t status = readFile(path, &record))
      return status;
    if (dpc_status_t status = checkFits(record, path, *out, paths))
      return status;
    out->push_back(std::move(record));
  }
  return DPC_OK;
}

} // namespace dpc

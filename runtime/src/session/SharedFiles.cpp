// Compares the files that ranks on several hosts read.

#include "runtime/src/session/SharedFiles.h"

#include "runtime/src/base/FileFacts.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/session/HostPhrase.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <set>

namespace dpc {

namespace {

/// The bytes that a host reads for one check. The check should not slow the start of a run, also if
/// the files are on a disk of the network.
constexpr uint64_t kSampleBytes = 16u << 20, kLeastSampleBytes = 16u << 10;

struct SeenFile {
  std::string path;
  FileFacts facts;
  /// The part of the path that must be equal on all hosts.
  std::string name() const { return path.substr(path.rfind('/') + 1); }
};

/// What one host has.
struct Inventory {
  std::string host;
  std::vector<SeenFile> files;

  std::set<std::string> names() const {
    std::set<std::string> out;
    for (const SeenFile &file : files)
      out.insert(file.name());
    return out;
  }
};

Inventory takeInventory(const std::vector<std::string> &paths) {
  Inventory out;
  out.host = hostName();
  const uint64_t share =
      std::max(kLeastSampleBytes, kSampleBytes / std::max<uint64_t>(1, paths.size()));
  for (const std::string &path : paths)
    out.files.push_back({path, factsOfFile(path, share)});
  return out;
}

/// A text ends with a zero byte, which neither a path nor the name of a host contains.
std::vector<char> pack(const Inventory &inventory) {
  std::vector<char> out;
  const auto add = [&](const void *data, size_t bytes) {
    const char *from = static_cast<const char *>(data);
    out.insert(out.end(), from, from + bytes);
  };
  add(inventory.host.c_str(), inventory.host.size() + 1);
  for (const SeenFile &file : inventory.files) {
    add(file.path.c_str(), file.path.size() + 1);
    add(&file.facts, sizeof file.facts);
  }
  return out;
}

/// Reads what pack() wrote. The bytes come from rank 0 of the same program.
Inventory unpack(const std::vector<char> &packed) {
  Inventory out;
  const char *at = packed.data(), *end = at + packed.size();
  const auto takeText = [&] {
    const std::string text = at;
    at += text.size() + 1;
    return text;
  };
  out.host = takeText();
  while (at < end) {
    SeenFile file;
    file.path = takeText();
    std::memcpy(&file.facts, at, sizeof file.facts);
    at += sizeof file.facts;
    out.files.push_back(std::move(file));
  }
  return out;
}

/// What is wrong, and whether the host of rank 0 is the one that lacks something.
struct Finding {
  dpc_status_t status = DPC_OK;
  std::string text;
  bool isOfRankZero = false;
};

/// The finding that a host cannot read a file that another host can read.
Finding lacks(const std::string &host, const std::string &path, int error,
              const std::string &other) {
  if (error == ENOENT || error == ENOTDIR)
    return {DPC_IO, host + " lacks the file " + path + ", which " + other + " has"};
  return {DPC_IO, host + " cannot read the file " + path + ": " + std::strerror(error) + "; " +
                      other + " can read it"};
}

Finding compareFile(const std::string &here, const std::string &there, const SeenFile &own,
                    const SeenFile &first) {
  const FileFacts &mine = own.facts, &its = first.facts;
  if (mine.error && !its.error)
    return lacks(here, own.path, mine.error, there);
  if (its.error && !mine.error) {
    Finding finding = lacks(there, first.path, its.error, here);
    finding.isOfRankZero = true;
    return finding;
  }
  if (mine.error)
    return {};
  if (mine.isRegular != its.isRegular)
    return {DPC_INVALID, here + ": " + own.path + " is " + (mine.isRegular ? "a" : "no") +
                             " regular file, but not so on " + there};
  if (mine.bytes != its.bytes)
    return {DPC_INVALID, here + ": " + own.path + " has " + countOf(mine.bytes, "byte") + ", but " +
                             std::to_string(its.bytes) + " on " + there};
  if (mine.checksum != its.checksum)
    return {DPC_INVALID,
            here + ": " + own.path + " has as many bytes as on " + there + ", but other contents"};
  return {};
}

/// Finds the first difference between the files of this host and those of rank 0's host.
Finding compare(const std::string &here, const std::string &there, const Inventory &own,
                const Inventory &first) {
  const std::set<std::string> ownNames = own.names(), firstNames = first.names();
  for (const SeenFile &file : first.files)
    if (!ownNames.count(file.name()))
      return lacks(here, file.path, ENOENT, there);
  for (const SeenFile &file : own.files)
    if (!firstNames.count(file.name())) {
      Finding finding = lacks(there, file.path, ENOENT, here);
      finding.isOfRankZero = true;
      return finding;
    }
  if (own.files.size() != first.files.size())
    return {DPC_INVALID, here + " has " + countOf(own.files.size(), "file") + " of data, but " +
                             there + " has " + std::to_string(first.files.size())};
  for (size_t i = 0; i < own.files.size(); ++i)
    if (Finding finding = compareFile(here, there, own.files[i], first.files[i]); finding.status)
      return finding;
  return {};
}

/// A complaint about the host of rank 0, which rank 0 reports. No complaint has the status DPC_OK.
struct Complaint {
  dpc_status_t status;
  char text[1020];
};

/// Collective. Ends the run if a rank has found something. The rank reports it whose host is at
/// fault.
dpc_status_t settle(dpc_session &session, const Finding &finding) {
  if (finding.status && !finding.isOfRankZero)
    return session.failed(fail(finding.status, "%s", finding.text.c_str()));
  Complaint mine = {};
  mine.status = finding.status;
  std::snprintf(mine.text, sizeof mine.text, "%s", finding.text.c_str());
  std::vector<char> all;
  if (dpc_status_t status = session.collect(&mine, sizeof mine, &all))
    return status;
  for (size_t at = 0; at < all.size(); at += sizeof mine) {
    std::memcpy(&mine, all.data() + at, sizeof mine);
    if (mine.status)
      return session.failed(fail(mine.status, "%s", mine.text));
  }
  return session.agree(DPC_OK);
}

} // namespace

dpc_status_t checkSameFiles(dpc_session &session, const std::vector<std::string> &paths) {
  const dpc_comm_t &comm = *session.comm;
  if (dpc_comm_host_count(&comm) == 1)
    return DPC_OK;
  const bool looks = comm.hosts[comm.rank] == comm.rank;
  Inventory own;
  if (looks)
    own = takeInventory(paths);
  std::vector<char> packed;
  if (comm.rank == 0)
    packed = pack(own);
  uint64_t bytes = packed.size();
  if (dpc_status_t status = session.broadcast(&bytes, sizeof bytes))
    return status;
  packed.resize(bytes);
  if (dpc_status_t status = session.broadcast(packed.data(), bytes))
    return status;
  Finding finding;
  if (looks && comm.rank != 0) {
    const Inventory first = unpack(packed);
    finding =
        compare(hostPhrase(comm, comm.rank, own.host), hostPhrase(comm, 0, first.host), own, first);
  }
  return settle(session, finding);
}

} // namespace dpc

// Puts a file into a folder on one host, and looks for it on the others.

#include "runtime/src/check/SharedFolder.h"

#include "runtime/src/base/Clock.h"
#include "runtime/src/base/Fd.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/comm/Rendezvous.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr double kLookSeconds = 1;

dpc_status_t write(const std::string &file, const Digest &contents) {
  const Fd opened(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!opened.valid() || ::write(opened.get(), contents.data(), contents.size()) !=
                             static_cast<ssize_t>(contents.size()))
    return fail(DPC_IO, "%s: cannot be written: %s", file.c_str(), std::strerror(errno));
  return DPC_OK;
}

bool holds(const std::string &file, const Digest &contents) {
  const Fd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  Digest found = {};
  return opened.valid() &&
         ::read(opened.get(), found.data(), found.size()) == static_cast<ssize_t>(found.size()) &&
         found == contents;
}

} // namespace

std::string SharedFolder::fileOf(const Digest &contents, const char *suffix) const {
  return path + "/.check-" + toHex(contents.data(), 8) + suffix;
}

dpc_status_t SharedFolder::prepare(Digest *outContents) {
  if (dpc_status_t status = randomDigest(outContents))
    return status;
  hasMadeFolder = ::mkdir(path.c_str(), 0777) == 0;
  if (!hasMadeFolder && errno != EEXIST)
    return fail(DPC_IO, "%s: cannot be made: %s", path.c_str(), std::strerror(errno));
  file = fileOf(*outContents, "");
  return write(file, *outContents);
}

dpc_status_t SharedFolder::look(uint32_t rank, const Digest &contents) const {
  const std::string wanted = fileOf(contents, "");
  for (const double deadline = monotonicSeconds() + kLookSeconds; !holds(wanted, contents);
       ::usleep(20000)) {
    if (monotonicSeconds() < deadline)
      continue;
    return ::access(path.c_str(), F_OK) == 0
               ? fail(DPC_INVALID,
                      "%s is another folder on this host than on that of rank 0, whose file is not "
                      "there",
                      path.c_str())
               : fail(DPC_INVALID, "%s: %s, but rank 0 has this folder", path.c_str(),
                      std::strerror(errno));
  }
  const std::string own = fileOf(contents, ("-" + std::to_string(rank)).c_str());
  const dpc_status_t status = write(own, contents);
  ::unlink(own.c_str());
  return status;
}

SharedFolder::~SharedFolder() {
  if (!file.empty())
    ::unlink(file.c_str());
  if (hasMadeFolder)
    ::rmdir(path.c_str());
}

} // namespace dpc

// Measures this host: starts dpc-device for the rates of a core, and ranks that time collectives,
// and fits the numbers of a topology file to them.
#include "runtime/src/describe/Describe.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/describe/CollectiveRates.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

namespace dpc {

namespace {

using nlohmann::ordered_json;

uint32_t countCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? uint32_t(count) : 1;
}

/// The tool beside this program; its bare name, which is looked up in PATH, if it is not there.
std::string pathOfTool(const char *name) {
  char own[4096];
  const ssize_t length = ::readlink("/proc/self/exe", own, sizeof own - 1);
  if (length <= 0)
    return name;
  std::string path(own, size_t(length));
  path = path.substr(0, path.rfind('/') + 1) + name;
  return ::access(path.c_str(), X_OK) == 0 ? path : name;
}

/// Runs dpc-device, and parses the object that it prints.
dpc_status_t measureDevice(uint32_t ranks, ordered_json *out) {
  const std::string tool = pathOfTool("dpc-device"), option = "--ranks=" + std::to_string(ranks);
  int ends[2];
  if (::pipe(ends) != 0)
    return fail(DPC_IO, "a pipe: %s", std::strerror(errno));
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDOUT_FILENO);
    ::close(ends[0]);
    ::close(ends[1]);
    ::execlp(tool.c_str(), tool.c_str(), option.c_str(), static_cast<char *>(nullptr));
    ::_exit(127);
  }
  ::close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t got; (got = ::read(ends[0], buffer, sizeof buffer)) != 0;)
    if (got > 0)
      text.append(buffer, size_t(got));
    else if (errno != EINTR)
      break;
  ::close(ends[0]);
  int status = 0;
  while (child > 0 && ::waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127))
    return fail(DPC_IO, "dpc-device cannot be started: it belongs beside dpc-run or into PATH");
  *out = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (status != 0 || !out->is_object())
    return fail(DPC_INVALID, "dpc-device measured nothing");
  return DPC_OK;
}

/// Numbers are written with six digits, because the others only repeat noise.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

ordered_json levelOf(const DescribeOptions &options, const CollectiveRates &rates, uint32_t ranks) {
  ordered_json level;
  level["name"] = options.transport.empty() ? "local" : options.transport;
  level["size"] = ranks;
  level["GB_per_s"] = rounded(rates.bytesPerSecond / 1e9);
  return level;
}

} // namespace

dpc_status_t describe(const DescribeOptions &options) {
  const uint32_t ranks = options.ranks ? options.ranks : countCores();
  ordered_json device;
  if (dpc_status_t status = measureDevice(ranks, &device))
    return failWithin(status, "--describe");
  CollectiveRates rates;
  rates.bytesPerSecond = 1e12; // one rank sends nothing
  if (ranks > 1)
    if (dpc_status_t status = measureCollectives(options, ranks, &rates))
      return failWithin(status, "--describe");
  char host[256] = "this host";
  ::gethostname(host, sizeof host - 1);
  ordered_json file;
  file["name"] = std::string(host) + ", " + std::to_string(ranks) +
                 (ranks == 1 ? " rank" : " ranks over ") +
                 (ranks == 1                  ? ""
                  : options.transport.empty() ? "local"
                                              : options.transport);
  file["source"] = "dpc-run --describe measured this host.";
  file["device"] = device;
  const char *const names[] = {"all_reduce", "all_gather", "reduce_scatter", "all_to_all"};
  for (int kind = 0; kind < CollectiveRates::kKinds && ranks > 1; ++kind)
    file["start_us"][names[kind]] = rounded(rates.startSeconds[kind] * 1e6);
  if (ranks > 1)
    file["start_us"]["message"] = rounded(rates.messageSeconds * 1e6);
  file["levels"] = {levelOf(options, rates, ranks)};
  const std::string text = file.dump(2, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  AtomicFile out;
  dpc_status_t status = out.create(options.file);
  if (status == DPC_OK)
    status = out.write(text.data(), text.size());
  if (status == DPC_OK)
    status = out.commit();
  return status ? failWithin(status, "--describe") : dpc_status_t(DPC_OK);
}

} // namespace dpc

// Measures hosts, and writes a topology file of them.
#include "runtime/src/describe/Describe.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Process.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/describe/ActionTime.h"
#include "runtime/src/describe/CollectiveRates.h"
#include "runtime/src/describe/DeviceRates.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sched.h>
#include <sys/stat.h>

namespace dpc {

namespace {

using nlohmann::ordered_json;

/// Numbers are written with six digits, because the others only repeat noise.
double rounded(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.6g", value);
  return std::strtod(text, nullptr);
}

ordered_json levelOf(const std::string &name, uint32_t size, const WayRates &rates) {
  // One rank sends nothing, so any bandwidth is right.
  constexpr double kNothingIsSent = 1e12;
  ordered_json level;
  level["name"] = name;
  level["size"] = size;
  level["GB_per_s"] = rounded((size == 1 ? kNothingIsSent : rates.bytesPerSecond) / 1e9);
  if (rates.unitBytesPerSecond > 0)
    level["unit_GB_per_s"] = rounded(rates.unitBytesPerSecond / 1e9);
  if (rates.startSeconds > 0)
    level["start_us"] = rounded(rates.startSeconds * 1e6);
  return level;
}

/// For people: the hosts, the ranks and the transport.
std::string nameOf(const DescribeOptions &options) {
  std::string name = hostName();
  if (options.hosts > 1)
    name += " and " + countOf(options.hosts - 1, "other host");
  name += ", " + countOf(options.ranks, "rank") + (options.hosts > 1 ? " each" : "");
  if (options.hosts > 1 || options.ranks > 1)
    name += " over " + (!options.transport.empty() ? options.transport
                        : options.hosts > 1        ? "sockets"
                                                   : "local");
  return name;
}

/// The object of a topology file.
ordered_json objectOf(const DescribeOptions &options, const CollectiveRates &rates,
                      const ordered_json &device) {
  static const char *const names[kTimedOperations] = {"all_reduce", "all_gather", "reduce_scatter",
                                                      "all_to_all", "message"};
  ordered_json file;
  file["name"] = nameOf(options);
  file["source"] = options.hosts > 1 ? "dpc-run --describe measured these hosts."
                                     : "dpc-run --describe measured this host.";
  file["device"] = device;
  if (options.hosts * options.ranks > 1) {
    file["device"]["slowdown_of_communication"] = rounded(rates.slowdown);
    for (int what = 0; what < kTimedOperations; ++what)
      file["start_us"][names[what]] = rounded(rates.startSeconds[what] * 1e6);
  }
  if (options.hosts == 1) {
    const std::string name = options.transport.empty() ? "local" : options.transport;
    file["levels"] = {levelOf(name, options.ranks, rates.inside)};
  } else {
    file["levels"] = {levelOf("host", options.ranks, rates.inside),
                      levelOf("network", options.hosts, rates.between)};
  }
  return file;
}

/// Makes the folder of `path`, and the one that holds it.
dpc_status_t makeFolder(const std::string &path) {
  const std::string folder = path.substr(0, path.rfind('/')),
                    outer = folder.substr(0, folder.rfind('/'));
  for (const std::string &each : {outer, folder})
    if (!each.empty() && ::mkdir(each.c_str(), 0700) != 0 && errno != EEXIST)
      return fail(DPC_IO, "%s: %s", each.c_str(), std::strerror(errno));
  return DPC_OK;
}

dpc_status_t measureHosts(const DescribeOptions &options) {
  const bool writes = options.host == 0;
  // First, because a file that cannot be written needs no measurement.
  AtomicFile out;
  if (writes && options.isDefault)
    if (dpc_status_t status = makeFolder(options.file))
      return status;
  if (writes)
    if (dpc_status_t status = out.create(options.file))
      return status;
  CollectiveRates rates;
  if (options.hosts * options.ranks > 1)
    if (dpc_status_t status = measureCollectives(options, &rates))
      return status;
  if (!writes)
    return DPC_OK;
  std::string text;
  double actionSeconds = 0;
  if (dpc_status_t status = measureDevice(options.ranks, &text))
    return status;
  if (dpc_status_t status = measureActionTime(&actionSeconds))
    return status;
  ordered_json device = ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!device.is_object())
    return fail(DPC_INVALID, "dpc-device measured nothing");
  device["launch_us"] = rounded(actionSeconds * 1e6);
  text =
      objectOf(options, rates, device).dump(2, ' ', false, ordered_json::error_handler_t::replace) +
      "\n";
  if (dpc_status_t status = out.write(text.data(), text.size()))
    return status;
  return out.commit();
}

} // namespace

uint32_t countCores() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? uint32_t(count) : 1;
}

dpc_status_t describe(const DescribeOptions &given) {
  DescribeOptions options = given;
  if (options.ranks == 0)
    options.ranks = countCores();
  if (dpc_status_t status = measureHosts(options))
    return failWithin(status, "--describe");
  if (!options.isDefault || options.host != 0)
    return DPC_OK;
  if (std::printf("wrote %s, for which dpc-compile now plans programs (--topology=target: without "
                  "it)\n",
                  options.file.c_str()) < 0 ||
      std::fflush(stdout) != 0)
    return fail(DPC_IO, "standard output: %s", std::strerror(errno));
  return DPC_OK;
}

} // namespace dpc

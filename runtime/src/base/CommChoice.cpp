// Parses the choice of a transport and the settings of its emulated links.
#include "runtime/src/base/CommChoice.h"

#include "dpc/comm.h"
#include "runtime/src/base/Status.h"

#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <utility>

namespace dpc {

namespace {

/// Parses a number with an optional unit, for example 10GB/s, 1.5e9 or 20us.
dpc_status_t parseWithUnit(const char *option, const std::string &value,
                           std::initializer_list<std::pair<const char *, double>> units,
                           double *out) {
  char *end = nullptr;
  *out = std::strtod(value.c_str(), &end);
  const std::string unit = end;
  bool known = unit.empty();
  for (const auto &[name, factor] : units)
    if (unit == name) {
      *out *= factor;
      known = true;
    }
  if (value.empty() || !known || !std::isfinite(*out) || *out < 0)
    return fail(DPC_USAGE, "%s: \"%s\" is not a number with a unit of it", option, value.c_str());
  return DPC_OK;
}

} // namespace

dpc_status_t parseCommChoice(const std::string &value, std::string *outTransport,
                             double *outBandwidth, double *outLatency) {
  size_t at = value.find(',');
  *outTransport = value.substr(0, at);
  if (*outTransport != kNcclTransport && !dpc_transport_find(outTransport->c_str()))
    return failWithin(DPC_USAGE, "--comm");
  while (at != std::string::npos) {
    const size_t next = value.find(',', at + 1);
    const std::string part = value.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    const size_t equals = part.find('=');
    const std::string key = part.substr(0, equals),
                      number = equals == std::string::npos ? "" : part.substr(equals + 1);
    dpc_status_t status = DPC_OK;
    if (key == "bandwidth")
      status = parseWithUnit("--comm bandwidth", number,
                             {{"B/s", 1},
                              {"KB/s", 1e3},
                              {"MB/s", 1e6},
                              {"GB/s", 1e9},
                              {"Mbit/s", 1e6 / 8},
                              {"Gbit/s", 1e9 / 8}},
                             outBandwidth);
    else if (key == "latency")
      status = parseWithUnit("--comm latency", number,
                             {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}, outLatency);
    else
      return fail(DPC_USAGE, "--comm: unknown setting \"%s\" (bandwidth= and latency= are known)",
                  part.c_str());
    if (status)
      return status;
    if (key == "bandwidth" && *outBandwidth == 0)
      return fail(DPC_USAGE, "--comm bandwidth: \"%s\" is no bandwidth: leave it out for none",
                  number.c_str());
    at = next;
  }
  return DPC_OK;
}

} // namespace dpc

#ifndef DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H
#define DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

#include "dpc/status.h"

#include <cstdint>
#include <map>
#include <string>

namespace dpc {

/// Options that a compiled program and dpc-run must spell alike. dpc-run passes
/// some of them to the program, looks for others on the program's command line, and
/// has some of them itself.
constexpr char kHelpOption[] = "--help";
constexpr char kVersionOption[] = "--version";
constexpr char kPrintRanksOption[] = "--print-ranks";
constexpr char kVerifyOption[] = "--verify";
constexpr char kCheckOption[] = "--check";
constexpr char kCheckpointOption[] = "--checkpoint";
constexpr char kResumeOption[] = "--resume";
constexpr char kFrozenOption[] = "--frozen";

/// The default of --timeout, in seconds.
constexpr double kTimeoutSeconds = 300;

/// Parses an integer from `lowest` to `highest` in decimal digits. Returns
/// false for any other text.
bool parseWhole(const char *text, uint64_t lowest, uint64_t highest, uint64_t *out);

/// Parses --check or --check=SECONDS, how long hosts and ranks wait for each other: 4 s if the user
/// names no time. Returns DPC_USAGE if SECONDS is not a number from 1 to 3600.
dpc_status_t parseCheck(const std::string &argument, uint64_t *outSeconds);

/// Parses the value of --frozen: after how many seconds a rank that does not answer counts as
/// frozen. Less than 5 seconds would be a normal pause on a busy host or network. Returns
/// DPC_USAGE for other values than whole numbers from 5 to 3600.
dpc_status_t parseFrozen(const char *value, double *out);

/// The options that a command line has given so far. An option may not appear
/// twice with different values, because one of the two values would be ignored.
class GivenOptions {
public:
  /// Adds `argument`, which sets the option `name`. Returns DPC_USAGE if an
  /// earlier argument has set the option to another value.
  dpc_status_t add(const std::string &name, const std::string &argument);
  bool has(const std::string &name) const { return given.count(name) != 0; }

private:
  std::map<std::string, std::string> given;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

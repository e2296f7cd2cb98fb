#ifndef DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H
#define DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

#include "dpc/status.h"

#include <cstdint>
#include <map>
#include <string>

namespace dpc {

/// Options of a produced program that dpc-run gives it or looks for, and those
/// that both have.
constexpr char kHelpOption[] = "--help";
constexpr char kVersionOption[] = "--version";
constexpr char kPrintRanksOption[] = "--print-ranks";
constexpr char kVerifyOption[] = "--verify";
constexpr char kCheckpointOption[] = "--checkpoint";
constexpr char kResumeOption[] = "--resume";

/// A whole number from `lowest` to `highest` in decimal digits; false for
/// anything else.
bool parseWhole(const char *text, uint64_t lowest, uint64_t highest, uint64_t *out);

/// The options of a command line so far, none of which may be given twice with
/// two values: one of the two would be ignored.
class GivenOptions {
public:
  /// Adds `argument`, which gives the option `name`. DPC_USAGE if it was given in
  /// another way before.
  dpc_status_t add(const std::string &name, const std::string &argument);

private:
  std::map<std::string, std::string> given;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

#ifndef DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H
#define DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

#include "dpc/status.h"

#include <cstdint>
#include <map>
#include <string>

namespace dpc {

/// Options of a produced program that dpc-run passes to it or looks for on its
/// command line, and options that both programs have.
constexpr char kHelpOption[] = "--help";
constexpr char kVersionOption[] = "--version";
constexpr char kPrintRanksOption[] = "--print-ranks";
constexpr char kVerifyOption[] = "--verify";
constexpr char kCheckpointOption[] = "--checkpoint";
constexpr char kResumeOption[] = "--resume";

/// Parses an integer from `lowest` to `highest` in decimal digits. Returns
/// false for any other text.
bool parseWhole(const char *text, uint64_t lowest, uint64_t highest, uint64_t *out);

/// The options of a command line up to now. No option may be given twice with
/// different values, because one of the two would be ignored.
class GivenOptions {
public:
  /// Adds `argument`, which sets the option `name`. DPC_USAGE if another
  /// argument has set the option differently.
  dpc_status_t add(const std::string &name, const std::string &argument);

private:
  std::map<std::string, std::string> given;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

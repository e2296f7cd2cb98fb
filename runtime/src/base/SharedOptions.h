#ifndef DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H
#define DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

#include <cstdint>

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

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_SHAREDOPTIONS_H

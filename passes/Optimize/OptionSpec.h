#ifndef DPC_PASSES_OPTIMIZE_OPTIONSPEC_H
#define DPC_PASSES_OPTIMIZE_OPTIONSPEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace dpc {

/// One numeric option of a `NAME[,OPTION=VALUE..]` text: its default and the
/// values it may have, both ends included unless said.
struct OptionInfo {
  llvm::StringLiteral name;
  double defaultValue;
  double lowest = 0;
  double highest = 1e308;
  /// The upper end itself is not allowed (a decay rate below 1).
  bool belowHighest = false;
  bool integer = false;
  /// P% is a value too, with P from 0 to 100 and at most four decimals.
  bool mayBePercentage = false;
};

/// A parsed `NAME[,OPTION=VALUE..]`: every option of the table has a value.
struct OptionSpec {
  std::string name;
  std::map<std::string, double, std::less<>> values;
  /// Options that were written out.
  std::map<std::string, double, std::less<>> given;
  /// Millionths that options given as percentages are; `values` has their
  /// defaults.
  std::map<std::string, int64_t, std::less<>> millionths;

  double operator[](llvm::StringRef option) const {
    return values.find(std::string_view(option))->second;
  }

  /// Reads the options after the name. `what` names the flag or object in
  /// messages. nullopt, with one line in `error`, for an unknown option, a
  /// repeated one, or a value that is no number or out of range.
  static std::optional<OptionSpec> parse(llvm::StringRef text, llvm::ArrayRef<OptionInfo> options,
                                         llvm::StringRef what, std::string &error,
                                         char separator = ',');
};

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_OPTIONSPEC_H

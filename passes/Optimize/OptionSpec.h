#ifndef DPC_PASSES_OPTIMIZE_OPTIONSPEC_H
#define DPC_PASSES_OPTIMIZE_OPTIONSPEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace dpc {

/// One numeric option of a `NAME[,OPTION=VALUE..]` text: its default and the range of its values,
/// which includes both ends unless `belowHighest` is set.
struct OptionInfo {
  llvm::StringLiteral name;
  double defaultValue;
  double lowest = 0;
  double highest = 1e308;
  /// Whether the upper end itself is not allowed, as for a decay rate below 1.
  bool belowHighest = false;
  bool integer = false;
  /// Whether a value may also be P%, with P from 0 to 100 and at most four decimals.
  bool mayBePercentage = false;
};

/// A parsed `NAME[,OPTION=VALUE..]`. Every option that was passed to `parse` has a value.
struct OptionSpec {
  std::string name;
  std::map<std::string, double, std::less<>> values;
  /// The options that the text contains, with the same values as in `values`. An option that the
  /// text omits has its default, and is in `values` only.
  std::map<std::string, double, std::less<>> given;
  /// The values of options that were given as percentages, in millionths (5% is 50,000). For these
  /// options `values` has the default.
  std::map<std::string, int64_t, std::less<>> millionths;

  double operator[](llvm::StringRef option) const {
    return values.find(std::string_view(option))->second;
  }

  /// Parses `text`: the name, and then the options. `what` names the flag or object in messages.
  /// Returns nullopt, with one line in `error`, for an unknown option, for a repeated option, and
  /// for a value that is no number or out of range.
  static std::optional<OptionSpec> parse(llvm::StringRef text, llvm::ArrayRef<OptionInfo> options,
                                         llvm::StringRef what, std::string &error,
                                         char separator = ',');
};

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_OPTIONSPEC_H

#ifndef DPC_PASSES_OPTIMIZE_OPTIONSPEC_H
#define DPC_PASSES_OPTIMIZE_OPTIONSPEC_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <optional>
#include <string>

namespace dpc {

/// One numeric option of a text `NAME[,OPTION=VALUE..]`: its default and the range of its values.
/// The range includes both ends, unless `belowHighest` is set.
struct OptionInfo {
  llvm::StringLiteral name;
  double defaultValue;
  double lowest = 0;
  double highest = 1e308;
  /// Whether the upper end itself is not allowed, e.g. for a decay rate that must be below 1.
  bool belowHighest = false;
  bool integer = false;
  /// Whether a value may also be written as P%, with P from 0 to 100 and at most four decimals.
  bool mayBePercentage = false;
};

/// A parsed text `NAME[,OPTION=VALUE..]`. Every option in the list that parse() gets has a value
/// here.
struct OptionSpec {
  std::string name;
  std::map<std::string, double, std::less<>> values;
  /// The options that the text contains, with the same values as in `values`. If the text omits an
  /// option, the option is only in `values`, with its default.
  std::map<std::string, double, std::less<>> given;
  /// The values of options that the text gives as percentages, in millionths: 5% is 50,000. For
  /// these options, `values` has the default.
  std::map<std::string, int64_t, std::less<>> millionths;

  double operator[](llvm::StringRef option) const {
    return values.find(std::string_view(option))->second;
  }

  /// Parses `text`: first the name, then the options. `what` is the name of the flag or object for
  /// messages. Returns nullopt and writes a message of one line to `error` if an option is unknown
  /// or repeated, or if a value is no number (or no integer, if the option is one) or out of range.
  static std::optional<OptionSpec> parse(llvm::StringRef text, llvm::ArrayRef<OptionInfo> options,
                                         llvm::StringRef what, std::string &error,
                                         char separator = ',');
};

} // namespace dpc

#endif // DPC_PASSES_OPTIMIZE_OPTIONSPEC_H

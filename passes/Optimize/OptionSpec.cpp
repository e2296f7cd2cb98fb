// Parses the options that follow the name of an optimizer, a group or a schedule. The values are
// numbers, or percentages of a total.

#include "passes/Optimize/OptionSpec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace llvm;
using namespace dpc;

std::optional<OptionSpec> OptionSpec::parse(StringRef text, ArrayRef<OptionInfo> options,
                                            StringRef what, std::string &error, char separator) {
  raw_string_ostream os(error);
  SmallVector<StringRef> parts;
  text.split(parts, separator);
  OptionSpec spec;
  spec.name = parts[0].str();
  for (const OptionInfo &option : options)
    spec.values[option.name.str()] = option.defaultValue;
  for (StringRef part : drop_begin(parts)) {
    auto [key, value] = part.split('=');
    const OptionInfo *option =
        find_if(options, [&, key = key](const OptionInfo &known) { return known.name == key; });
    if (option == options.end()) {
      os << what << " has no option '" << key << "'; known: ";
      interleaveComma(options, os, [&](const OptionInfo &known) { os << known.name; });
      return std::nullopt;
    }
    double number;
    if (option->mayBePercentage && value.ends_with("%")) {
      constexpr double perPercent = 1e4;
      if (value.drop_back().getAsDouble(number) || !(number >= 0 && number <= 100) ||
          std::abs(number * perPercent - std::round(number * perPercent)) > 1e-6) {
        os << what << ": " << key << "=" << value
           << " is not a percentage from 0 to 100 with at most four decimals";
        return std::nullopt;
      }
      spec.millionths[key.str()] = std::llround(number * perPercent);
      number = option->defaultValue;
    } else if (value.getAsDouble(number) || !std::isfinite(number)) {
      os << what << ": " << key << "='" << value << "' is not a number";
      return std::nullopt;
    }
    bool high = option->belowHighest ? number >= option->highest : number > option->highest;
    if (number < option->lowest || high || (option->integer && number != std::floor(number))) {
      os << what << ": " << key << "=" << value << " is not ";
      os << (option->integer ? "a whole number" : "a number") << " from "
         << format("%g", option->lowest);
      if (option->highest < 1e308)
        os << (option->belowHighest ? " to below " : " to ") << format("%g", option->highest);
      return std::nullopt;
    }
    if (!spec.given.emplace(key.str(), number).second) {
      os << what << ": " << key << " is given twice";
      return std::nullopt;
    }
    spec.values[key.str()] = number;
  }
  return spec;
}

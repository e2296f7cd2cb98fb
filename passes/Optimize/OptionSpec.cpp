#include "passes/Optimize/OptionSpec.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
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
    if (value.getAsDouble(number) || !std::isfinite(number)) {
      os << what << ": " << key << "='" << value << "' is not a number";
      return std::nullopt;
    }
    bool high = option->belowHighest ? number >= option->highest : number > option->highest;
    if (number < option->lowest || high || (option->integer && number != std::floor(number))) {
      os << what << ": " << key << "=" << value << " is not ";
      os << (option->integer ? "a whole number" : "a number") << " from " << option->lowest;
      if (option->highest < 1e308)
        os << (option->belowHighest ? " to below " : " to ") << option->highest;
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

// Parses the values of single options of dpc-compile.

#include "tools/dpc-compile/OptionValues.h"

#include "tools/common/CommandLine.h"

#include <cmath>

using namespace llvm;
using namespace llvm::opt;

void dpc::usageError(const Twine &message) {
  errs() << "dpc-compile: error: " << message << "\n";
  exit(exitUsage);
}

double dpc::parseNumber(const Arg &arg, double lowest) {
  double value;
  StringRef text = arg.getValue();
  if (text.getAsDouble(value) || !std::isfinite(value) || value < lowest)
    usageError(arg.getSpelling() + text + " is not a number from " +
               Twine(static_cast<int64_t>(lowest)) + " up");
  return value;
}

int64_t dpc::parseMebibytes(const Arg &arg) {
  double mebibytes = parseNumber(arg, 0);
  if (mebibytes * (1 << 20) < 1 || mebibytes > (1 << 20))
    usageError(arg.getSpelling() + Twine(arg.getValue()) + " is not a number of MiB up to 1048576");
  return mebibytes * (1 << 20);
}

std::optional<int64_t> dpc::parseBytes(StringRef text) {
  double unit = 1, value;
  for (auto [name, factor] : {std::pair<StringRef, double>{"KiB", 1024.},
                              {"MiB", 1048576.},
                              {"GiB", 1073741824.},
                              {"TiB", 1099511627776.},
                              {"KB", 1e3},
                              {"MB", 1e6},
                              {"GB", 1e9},
                              {"TB", 1e12}})
    if (text.consume_back(name)) {
      text = text.rtrim();
      unit = factor;
      break;
    }
  if (text.getAsDouble(value) || !std::isfinite(value) || value * unit < 1 || value * unit > 9e18)
    return std::nullopt;
  return value * unit;
}

int64_t dpc::parseBytes(const Arg &arg) {
  if (std::optional<int64_t> bytes = parseBytes(StringRef(arg.getValue())))
    return *bytes;
  usageError(arg.getSpelling() + Twine(arg.getValue()) +
             " is not a number of bytes, or one with KiB, MiB, GiB, TiB, KB, MB, GB or TB");
}

bool dpc::parseSwitch(const InputArgList &args, unsigned option, StringRef name) {
  StringRef value = args.getLastArgValue(option, "on");
  if (value != "on" && value != "off")
    usageError(name + ": '" + value + "' is neither on nor off");
  return value == "on";
}

#include "passes/Explain/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dpc;

/// Runs of digits, and what is between them.
static std::vector<StringRef> partsOf(StringRef name) {
  std::vector<StringRef> parts;
  while (!name.empty()) {
    const bool isNumber = isDigit(name.front());
    StringRef part = name.take_while([&](char c) { return isDigit(c) == isNumber; });
    parts.push_back(part);
    name = name.drop_front(part.size());
  }
  return parts;
}

std::string dpc::withoutNumbers(StringRef name) {
  std::string pattern;
  for (StringRef part : partsOf(name))
    pattern += isDigit(part.front()) ? "*" : part.str();
  return pattern;
}

std::string dpc::commonPattern(const std::vector<std::string> &names) {
  std::vector<StringRef> common = partsOf(names.front());
  for (const std::string &name : ArrayRef(names).drop_front())
    for (auto [mine, other] : zip(common, partsOf(name)))
      if (mine != other)
        mine = "*";
  return join(common, "");
}

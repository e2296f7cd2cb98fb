// Splits names of tensors and nodes into runs of digits and the text between them. This serves to
// find the names that correspond to each other in repeated layers.

#include "passes/Explain/Names.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace dpc;

/// Returns the runs of digits in `name`, and the text between them, in order.
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

std::string dpc::nodeFamily(StringRef name) {
  std::string family = withoutNumbers(name);
  for (size_t at; (at = family.find("_*")) != std::string::npos;)
    family.erase(at, 2);
  return family;
}

std::string dpc::commonPattern(const std::vector<std::string> &names) {
  std::vector<StringRef> common = partsOf(names.front());
  bool isPattern = true;
  for (const std::string &name : ArrayRef(names).drop_front()) {
    const std::vector<StringRef> parts = partsOf(name);
    isPattern &= parts.size() == common.size();
    for (auto [mine, other] : zip(common, parts))
      if (mine != other)
        mine = "*";
  }
  if (isPattern)
    return join(common, "");
  StringRef first = names.front();
  size_t before = first.size(), after = first.size();
  for (StringRef name : names) {
    size_t same = 0, most = std::min(name.size(), first.size());
    while (same < most && name[same] == first[same])
      ++same;
    before = std::min(before, same);
  }
  for (StringRef name : names) {
    size_t end = 0, most = std::min(name.size(), first.size());
    while (end < most - before && name[name.size() - 1 - end] == first[first.size() - 1 - end])
      ++end;
    after = std::min(after, end);
  }
  return (first.take_front(before) + "*" + first.take_back(after)).str();
}

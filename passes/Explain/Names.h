#ifndef DPC_PASSES_EXPLAIN_NAMES_H
#define DPC_PASSES_EXPLAIN_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace dpc {

/// `name` with a star for each number: what repeated layers have in common.
std::string withoutNumbers(llvm::StringRef name);

/// What names that are equal without their numbers have in common: a star where
/// their numbers differ.
std::string commonPattern(const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_NAMES_H

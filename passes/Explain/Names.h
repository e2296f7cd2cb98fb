#ifndef DPC_PASSES_EXPLAIN_NAMES_H
#define DPC_PASSES_EXPLAIN_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace dpc {

/// `name` with a star for each number: what repeated layers have in common.
std::string withoutNumbers(llvm::StringRef name);

/// The same of nodes, of which exporters number all but the first: node_linear,
/// node_linear_1. No pattern, but equal for all of them.
std::string nodeFamily(llvm::StringRef name);

/// What names of one pattern, or of one family, have in common: a star where they
/// differ.
std::string commonPattern(const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_NAMES_H

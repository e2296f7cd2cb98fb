#ifndef DPC_PASSES_EXPLAIN_NAMES_H
#define DPC_PASSES_EXPLAIN_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace dpc {

/// Returns `name` with a star for each number, which is equal for the corresponding tensors of
/// repeated layers: "h.0.ln.weight" gives "h.*.ln.weight".
std::string withoutNumbers(llvm::StringRef name);

/// Returns a key that is equal for the nodes of repeated layers. Exporters number all of these
/// nodes but the first: node_linear, node_linear_1. The key is for comparison only; it is no
/// pattern to print.
std::string nodeFamily(llvm::StringRef name);

/// Returns the common pattern of names that have equal withoutNumbers() or equal nodeFamily(), with
/// a star for each part in which they differ.
std::string commonPattern(const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_NAMES_H

#ifndef DPC_PASSES_EXPLAIN_NAMES_H
#define DPC_PASSES_EXPLAIN_NAMES_H

#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace dpc {

/// Returns `name` with a star in the place of each number: "h.0.ln.weight" gives "h.*.ln.weight".
/// The corresponding tensors of repeated layers get equal results.
std::string withoutNumbers(llvm::StringRef name);

/// Returns a key that is equal for the corresponding nodes of repeated layers. Exporters append a
/// number to all of these node names except the first: node_linear, node_linear_1. The key is for
/// comparisons only, and is never printed.
std::string nodeFamily(llvm::StringRef name);

/// Returns the common pattern of `names`, with stars where the names differ: "h.0.w" and "h.1.w"
/// give "h.*.w". The names must have equal withoutNumbers() or equal nodeFamily().
std::string commonPattern(const std::vector<std::string> &names);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_NAMES_H

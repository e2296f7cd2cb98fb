#ifndef DPC_PLANNING_PRODUCTMAKER_H
#define DPC_PLANNING_PRODUCTMAKER_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// Who multiplies matrices, on a device that may have a library for it.
enum class ProductMaker {
  bySize,    ///< the library, if the product is large
  generated, ///< generated kernels
  library    ///< the library, wherever it can
};

/// The name that options and attributes use: auto, generated or library.
llvm::StringRef nameOf(ProductMaker maker);
/// The maker of that name, or nullopt.
std::optional<ProductMaker> parseProductMaker(llvm::StringRef name);

} // namespace dpc

#endif // DPC_PLANNING_PRODUCTMAKER_H

#ifndef DPC_PLANNING_PRODUCTMAKER_H
#define DPC_PLANNING_PRODUCTMAKER_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// The code that multiplies matrices, on a device that may have a library of
/// matrix products.
enum class ProductMaker {
  bySize,    ///< the library, if the product is large
  generated, ///< generated kernels
  library    ///< the library, for every product that it supports
};

/// The name that options and attributes use: auto, generated or library.
llvm::StringRef nameOf(ProductMaker maker);
/// The maker whose name is `name`; nullopt if there is none.
std::optional<ProductMaker> parseProductMaker(llvm::StringRef name);

} // namespace dpc

#endif // DPC_PLANNING_PRODUCTMAKER_H

#ifndef DPC_PLANNING_PRODUCTMAKER_H
#define DPC_PLANNING_PRODUCTMAKER_H

#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// The code that multiplies matrices and computes convolutions, on a device that may have
/// libraries for both.
enum class ProductMaker {
  bySize,    ///< the library, if the product or convolution is large
  generated, ///< generated kernels
  library    ///< the library, for everything that it supports
};

/// The name that options and attributes use: auto, generated or library.
llvm::StringRef nameOf(ProductMaker maker);
/// The maker whose name is `name`; nullopt if there is none.
std::optional<ProductMaker> parseProductMaker(llvm::StringRef name);

} // namespace dpc

#endif // DPC_PLANNING_PRODUCTMAKER_H

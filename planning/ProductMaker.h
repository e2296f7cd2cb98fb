#ifndef DPC_PLANNING_PRODUCTMAKER_H
#define DPC_PLANNING_PRODUCTMAKER_H

namespace dpc {

/// Who multiplies matrices, on a device that may have a library for it.
enum class ProductMaker {
  bySize,    ///< the library, where the product is large
  generated, ///< the kernels themselves
  library    ///< the library, wherever it can
};

} // namespace dpc

#endif // DPC_PLANNING_PRODUCTMAKER_H

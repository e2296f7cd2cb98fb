// The names of classes of kernels.

#include "planning/KernelClass.h"

#include <iterator>

using namespace dpc;

static constexpr llvm::StringLiteral kKernelClassNames[] = {
    "copy",          "elementwise", "random",      "indexing",  "reduction",
    "normalization", "update",      "convolution", "attention", "product"};
static_assert(std::size(kKernelClassNames) == kKernelClasses);

llvm::StringRef dpc::nameOf(KernelClass kind) { return kKernelClassNames[size_t(kind)]; }

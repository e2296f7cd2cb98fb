// The names of classes of kernels.

#include "planning/KernelClass.h"

#include "llvm/ADT/STLExtras.h"

using namespace dpc;

static constexpr llvm::StringLiteral kKernelClassNames[] = {
    "copy",          "elementwise", "random",      "indexing",  "reduction",
    "normalization", "update",      "convolution", "attention", "product"};
static_assert(std::size(kKernelClassNames) == kKernelClasses);

llvm::StringRef dpc::nameOf(KernelClass kind) { return kKernelClassNames[size_t(kind)]; }

std::optional<KernelClass> dpc::parseKernelClass(llvm::StringRef name) {
  const auto *found = llvm::find(kKernelClassNames, name);
  if (found == std::end(kKernelClassNames))
    return std::nullopt;
  return KernelClass(found - std::begin(kKernelClassNames));
}

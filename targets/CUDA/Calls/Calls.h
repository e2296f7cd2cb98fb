#ifndef DPC_TARGETS_CUDA_CALLS_CALLS_H
#define DPC_TARGETS_CUDA_CALLS_CALLS_H

#include "dialects/NN/IR/Contraction.h"
#include "planning/ChannelOrder.h"
#include "planning/FactorForm.h"
#include "planning/LibraryWork.h"
#include "planning/ProductMaker.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include <optional>
#include <string>

namespace dpc {

/// A library call (dpc/calls.h) that computes a group of loops, either completely or only
/// its first stage (LoopGroup::stages) and one op of the second one. The buffers are still values
/// of the kernel. The generation of code replaces them by positions in memory (LibraryCall).
struct PlannedCall {
  /// The kind of the call, DPC_CALL_*.
  uint32_t kind = 0;
  /// The bytes of the C struct that the kind defines, e.g. of a dpc_product_t.
  std::string description;
  /// The values in the buffers of the call, in the order that the kind defines. All
  /// values are in memory. A null value stands for the scratch memory of the library.
  llvm::SmallVector<mlir::Value> buffers;
  /// The size in bytes of the library's scratch memory.
  int64_t workspaceBytes = 0;
  /// The value that the library writes.
  mlir::Value result;
  /// The op of the second stage that the library computes too; null if there is none.
  mlir::Operation *epilogue = nullptr;
  /// Whether the library computes the complete group. If not, another launch computes what remains.
  bool isComplete = true;
};

/// Limits of ProductMaker::bySize, in multiplications. A library computes a product or a
/// convolution of at least kLargeCall multiplications if it computes the complete group of loops.
/// If the library computes only the first stage, a second launch must read the stored result
/// again. This is worth its cost from kVeryLargeCall multiplications on.
inline constexpr int64_t kLargeCall = 1 << 24, kVeryLargeCall = 1 << 27;

/// The options that decide which groups of loops become library calls.
struct CallOptions {
  /// Which matrix products and convolutions a library computes: none, large ones or all.
  ProductMaker products = ProductMaker::generated;
  /// How products and convolutions of f32 multiply their factors. A library has no split factors:
  /// it makes no such products, and such convolutions with the factors themselves.
  FactorForm factors = FactorForm::whole;
};

/// Whether a library computes an op of so many multiplications. `isComplete` says whether it
/// computes the complete group of loops.
bool wantsLibrary(const CallOptions &options, uint64_t multiplications, bool isComplete);

/// Plans a library call that computes `group`, a group whose fill rule computes tiles.
/// Returns nullopt if no library supports the group, or if `options` wants generated code
/// for a group of this size.
std::optional<PlannedCall> planCall(const KernelGraph &graph, const LoopGroup &group,
                                    const CallOptions &options);

/// Returns the number n of elements such that rows of a multiple of n elements let the target
/// multiply the matrices of `dot` fast. The units that multiply matrices read factors in pieces of
/// 16 bytes, and libraries use them only for rows that consist of such pieces. Other kernels access
/// rows of such pieces in 16 bytes, too. Returns 1 if the product is small, or if its factors are
/// f64.
int64_t alignmentOfProduct(nn::DotOp dot, const CallOptions &options);

/// What a library computes of `op` even if another launch must compute the ops that follow it.
LibraryWork libraryWorkOf(mlir::Operation *op, const CallOptions &options);

/// Whether a library computes `dot`, a product of 16-bit factors, and can add a bias of the
/// result's type before it stores the result.
bool wantsNarrowAddend(nn::DotOp dot, const CallOptions &options);

/// Whether a library computes `op`, a convolution or a gradient of one with 16-bit factors and
/// a wider result, only if the result has 16 bits too.
bool needsNarrowSums(mlir::Operation *op, const CallOptions &options);

/// The order of the tensors of `op`, a convolution or a gradient of one, that its maker wants. The
/// engines of a library for 16 bits and tf32 read channels last, and the other engines the spatial
/// dimensions last. Kernels take any order.
ChannelOrder channelOrderOf(mlir::Operation *op, const CallOptions &options);

/// The type of a function that does the same as planCall for one kind of calls. Each kind
/// has such a function, in a file of its own.
using CallPlanner = std::optional<PlannedCall>(const KernelGraph &graph, const LoopGroup &group,
                                               const CallOptions &options);
CallPlanner planProduct;     // Product.cpp
CallPlanner planConvolution; // Convolution.cpp

/// The type of a function that does the same as libraryWorkOf for one kind of calls.
using WorkFinder = LibraryWork(mlir::Operation *op, const CallOptions &options);
WorkFinder findWorkOfProduct;     // Product.cpp
WorkFinder findWorkOfConvolution; // Convolution.cpp

} // namespace dpc

#endif // DPC_TARGETS_CUDA_CALLS_CALLS_H

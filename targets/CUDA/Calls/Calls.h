#ifndef DPC_TARGETS_CUDA_CALLS_CALLS_H
#define DPC_TARGETS_CUDA_CALLS_CALLS_H

#include "planning/ProductMaker.h"
#include "targets/Loops/Kernels/LoopPlan.h"

#include <optional>
#include <string>

namespace dpc {

/// A library call (dpc/calls.h) that can compute a group of loops completely, or the
/// first stage of the group (LoopPlan.h).
struct PlannedCall {
  /// DPC_CALL_*.
  uint32_t kind = 0;
  /// The bytes of the kind's C struct.
  std::string description;
  /// The values in the buffers of the call, in the order that the kind defines. They
  /// are in memory. Null: scratch memory of the library.
  llvm::SmallVector<mlir::Value> buffers;
  /// Bytes of that scratch memory.
  int64_t workspaceBytes = 0;
  /// The value that the library writes.
  mlir::Value result;
  /// Whether the library computes the complete group. If not, another launch computes
  /// all stages but the first.
  bool isComplete = true;
};

/// The options that decide which calls are planned.
struct CallOptions {
  /// The choice of products that a library computes.
  ProductMaker products = ProductMaker::generated;
  /// Whether products of f32 may round their factors to tf32.
  bool tf32 = false;
};

/// Plans a call that computes `group`, which has a fill rule of tiles. Returns nullopt
/// if no library is worth it.
std::optional<PlannedCall> planCall(const KernelGraph &graph, const LoopGroup &group,
                                    const CallOptions &options);

/// The same for one kind of calls. Each kind is in a file of its own.
using CallPlanner = std::optional<PlannedCall>(const KernelGraph &graph, const LoopGroup &group,
                                               const CallOptions &options);
CallPlanner planProduct; // Product.cpp

} // namespace dpc

#endif // DPC_TARGETS_CUDA_CALLS_CALLS_H

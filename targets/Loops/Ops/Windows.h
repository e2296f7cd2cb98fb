#ifndef DPC_TARGETS_LOOPS_OPS_WINDOWS_H
#define DPC_TARGETS_LOOPS_OPS_WINDOWS_H

#include "dialects/NN/IR/Window.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc {

/// The position in the input of element `k` of the window of output `y`. It may be
/// in the padding.
inline llvm::SmallVector<LoopEmitter::Index> inputAt(const nn::Window &window,
                                                     llvm::ArrayRef<LoopEmitter::Index> y,
                                                     llvm::ArrayRef<LoopEmitter::Index> k) {
  llvm::SmallVector<LoopEmitter::Index> x(y.take_front(2));
  for (size_t d = 0; d < k.size(); ++d)
    x.push_back(y[d + 2] * window.strides[d] + k[d] * window.dilations[d] - window.padLow[d]);
  return x;
}

/// The output whose window has the input element `x` as its element `k`. For some
/// `x` and `k` no output has this property.
struct WindowOfInput {
  WindowOfInput(IndexSpace &space, const nn::Window &window, llvm::ArrayRef<LoopEmitter::Index> x,
                llvm::ArrayRef<LoopEmitter::Index> k)
      : at(x.take_front(2)), window(window) {
    for (size_t d = 0; d < k.size(); ++d) {
      shifted.push_back(x[d + 2] + window.padLow[d] - k[d] * window.dilations[d]);
      at.push_back(space.floorDiv(shifted[d], window.strides[d]));
    }
  }

  /// The conditions under which the output exists in a tensor of the type
  /// `outputs`.
  llvm::SmallVector<IndexBound> bounds(const IndexSpace &space,
                                       mlir::RankedTensorType outputs) const {
    llvm::SmallVector<IndexBound> bounds;
    for (size_t d = 0; d < shifted.size(); ++d) {
      bounds.push_back({space.mod(shifted[d], window.strides[d]), 1});
      bounds.push_back({at[d + 2], outputs.getDimSize(d + 2)});
    }
    return bounds;
  }

  llvm::SmallVector<LoopEmitter::Index> at;
  /// The spatial positions of the output, before the division by the strides.
  llvm::SmallVector<LoopEmitter::Index> shifted;

private:
  const nn::Window &window;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_OPS_WINDOWS_H

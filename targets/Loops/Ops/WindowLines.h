#ifndef DPC_TARGETS_LOOPS_OPS_WINDOWLINES_H
#define DPC_TARGETS_LOOPS_OPS_WINDOWLINES_H

#include "dialects/NN/IR/Window.h"
#include "targets/Loops/LoopEmitter.h"

namespace dpc {

/// Emits loops over the windows of a pooling, one line at a time. A line has the outputs along the
/// last dimension. The windows of most of its outputs are completely inside the input along this
/// dimension, so that their loop needs no branches.
class WindowLines {
public:
  using Index = LoopEmitter::Index;

  /// `input` and `outputs` are the types of the tensor before and after pooling.
  WindowLines(LoopEmitter &emitter, const nn::Window &window, mlir::RankedTensorType input,
              mlir::RankedTensorType outputs);

  /// Emits loops over all lines. `body` gets the first output of a line.
  void forEachLine(llvm::function_ref<void(llvm::SmallVector<Index> &)> body);

  /// Calls `body` with the position along the last dimension of each output of a line, in a loop
  /// that may become vectors: the outputs whose windows are completely inside.
  void inside(llvm::function_ref<void(Index)> body);
  /// The same for all other outputs of a line.
  void onBorder(llvm::function_ref<void(Index)> body);

  /// The position of a tap in the input. It is inside the input if the conditions `line` and
  /// `output` hold; null conditions always hold. The condition `line` is the same for all outputs
  /// of a line.
  struct Place {
    llvm::SmallVector<Index> at;
    mlir::Value line, output;
  };
  /// The place of the tap at position `k` in the window of output `y`.
  Place placeOf(llvm::ArrayRef<Index> y, llvm::ArrayRef<Index> k);

  /// Whether the loops over taps are unrolled.
  bool isUnrolled() const { return window.getTaps() <= 16; }
  /// The positions `values` as indices.
  llvm::SmallVector<Index> constants(llvm::ArrayRef<int64_t> values);

private:
  void linesFrom(llvm::SmallVector<Index> &outer,
                 llvm::function_ref<void(llvm::SmallVector<Index> &)> body);

  LoopEmitter &e;
  nn::Window window;
  mlir::RankedTensorType input, outputs;
  /// The outputs [first, end) of a line have windows that are completely inside the input along the
  /// last dimension.
  int64_t first, end;
};

} // namespace dpc

#endif // DPC_TARGETS_LOOPS_OPS_WINDOWLINES_H

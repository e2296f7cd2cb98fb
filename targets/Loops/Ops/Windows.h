#ifndef DPC_TARGETS_LOOPS_OPS_WINDOWS_H
#define DPC_TARGETS_LOOPS_OPS_WINDOWS_H

#include "dialects/NN/IR/Window.h"
#include "targets/Loops/LoopEmitter.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"

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

/// The conditions under which the position `x` is inside a tensor of the type `type`.
inline llvm::SmallVector<IndexBound> insideOf(mlir::RankedTensorType type,
                                              llvm::ArrayRef<LoopEmitter::Index> x) {
  llvm::SmallVector<IndexBound> bounds;
  for (int64_t d = 2; d < type.getRank(); ++d)
    bounds.push_back({x[d], type.getDimSize(d)});
  return bounds;
}

/// About how many elements of the input an output reads that no other output reads.
inline int64_t getReadsPerOutput(const nn::Window &window) {
  int64_t strides = 1;
  for (int64_t stride : window.strides)
    strides *= stride;
  return std::max<int64_t>(1, window.getTaps() / strides);
}

/// Visits the elements of the window of output `y` in operand 0, which is `input`.
inline void readWindow(const nn::Window &window, IndexSpace &space, mlir::Value input,
                       const ElementIndex &y, VisitRead read) {
  space.inLoops(window.kernel, [&](llvm::ArrayRef<LoopEmitter::Index> k) {
    llvm::SmallVector<LoopEmitter::Index> x = inputAt(window, y.positions(), k);
    space.inBranch(!space.areMet(insideOf(nn::typeOf(input), x)),
                   [&] { read(0, elementOf(space, input, x)); });
  });
}

/// Whether a window has one element along the last dimension, which is not padding. Windows of
/// outputs that are neighbours along this dimension then have neighbours as their elements.
inline bool hasNeighbours(const nn::Window &window) {
  return window.kernel.back() == 1 && window.strides.back() == 1 && window.padLow.back() == 0 &&
         window.padHigh.back() == 0;
}

/// The positions of the element that is `count` elements after `x` along the last dimension.
inline llvm::SmallVector<LoopEmitter::Index> elementAfter(llvm::ArrayRef<LoopEmitter::Index> x,
                                                          size_t count) {
  llvm::SmallVector<LoopEmitter::Index> after(x);
  after.back() = after.back() + static_cast<int64_t>(count);
  return after;
}

/// One of the outputs whose windows may have the input element `x`. Without a dilation, only
/// ceil(kernel / stride) outputs along a dimension come into question, and only they are numbered.
struct OutputAround {
  /// How many outputs are numbered along each spatial dimension.
  static llvm::SmallVector<int64_t> countsOf(const nn::Window &window) {
    llvm::SmallVector<int64_t> counts;
    for (auto [kernel, stride, dilation] :
         llvm::zip_equal(window.kernel, window.strides, window.dilations))
      counts.push_back(dilation == 1 ? (kernel + stride - 1) / stride : kernel);
    return counts;
  }

  /// The output with the number `number`. Higher numbers have `x` as later elements of their
  /// windows.
  OutputAround(IndexSpace &space, const nn::Window &window, llvm::ArrayRef<LoopEmitter::Index> x,
               llvm::ArrayRef<LoopEmitter::Index> number)
      : at(x.take_front(2)), window(window) {
    for (size_t d = 0; d < number.size(); ++d) {
      const int64_t stride = window.strides[d], dilation = window.dilations[d];
      const LoopEmitter::Index padded = x[d + 2] + window.padLow[d];
      const LoopEmitter::Index shifted = dilation == 1 ? padded : padded - number[d] * dilation;
      rest.push_back(space.mod(shifted, stride));
      at.push_back(space.floorDiv(shifted, stride));
      tap.push_back(number[d]);
      if (dilation == 1) {
        at.back() = at.back() - number[d];
        tap.back() = number[d] * stride + rest.back();
      }
    }
  }

  /// The conditions under which the output exists in a tensor of the type `outputs`, and its window
  /// has `x`.
  llvm::SmallVector<IndexBound> bounds(mlir::RankedTensorType outputs) const {
    llvm::SmallVector<IndexBound> bounds;
    for (size_t d = 0; d < tap.size(); ++d) {
      if (window.dilations[d] == 1)
        bounds.push_back({tap[d], window.kernel[d]});
      else
        bounds.push_back({rest[d], 1});
      bounds.push_back({at[d + 2], outputs.getDimSize(d + 2)});
    }
    return bounds;
  }

  llvm::SmallVector<LoopEmitter::Index> at;
  /// The element of the window that is `x`.
  llvm::SmallVector<LoopEmitter::Index> tap;

private:
  const nn::Window &window;
  llvm::SmallVector<LoopEmitter::Index> rest; // of the division by the stride
};

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

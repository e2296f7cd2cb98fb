// Loop rules of the three ops of a convolution: blocked matrix products, or for
// small ones a sum for each element.

#include "dialects/NN/IR/Convolution.h"
#include "dialects/NN/IR/Loops.h"
#include "dialects/NN/IR/MatrixProduct.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

static int64_t elements(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  return count;
}

/// Products of the whole convolution over elements of `type`.
static int64_t productsPer(const Convolution &convolution,
                           RankedTensorType type) {
  int64_t products = convolution.y.getNumElements() *
                     elements(convolution.w.getShape().drop_front(1));
  return std::max<int64_t>(1, products /
                                  std::max<int64_t>(1, type.getNumElements()));
}

int64_t ConvOp::getElementCost() {
  return productsPer(getConvolution(), typeOf(getResult()));
}
int64_t ConvInputGradOp::getElementCost() {
  return productsPer(getConvolution(), typeOf(getResult()));
}
int64_t ConvWeightGradOp::getElementCost() {
  return productsPer(getConvolution(), typeOf(getResult()));
}
int64_t ConvOp::getReadsPerElement(unsigned operand) {
  return productsPer(getConvolution(), typeOf(getOperand(operand)));
}
int64_t ConvInputGradOp::getReadsPerElement(unsigned operand) {
  return productsPer(getConvolution(), typeOf(getOperand(operand)));
}
int64_t ConvWeightGradOp::getReadsPerElement(unsigned operand) {
  return productsPer(getConvolution(), typeOf(getOperand(operand)));
}

namespace {
/// The matrix product each of the three ops is, for one group: the factors are
/// gathered while they are packed, so no unfolded image is ever stored.
struct Product {
  Convolution c;
  int64_t samples, inputs, outputs; // channels of one group
  int64_t taps, xPlane, yPlane;

  explicit Product(const Convolution &convolution)
      : c(convolution), samples(c.x.getDimSize(0)), inputs(c.w.getDimSize(1)),
        outputs(c.w.getDimSize(0) / c.groups),
        taps(elements(c.w.getShape().drop_front(2))),
        xPlane(elements(c.x.getShape().drop_front(2))),
        yPlane(elements(c.y.getShape().drop_front(2))) {}

  ArrayRef<int64_t> tapShape() const { return c.w.getShape().drop_front(2); }
  ArrayRef<int64_t> xShape() const { return c.x.getShape().drop_front(2); }
  ArrayRef<int64_t> yShape() const { return c.y.getShape().drop_front(2); }
  Type type() const { return c.x.getElementType(); }

  /// Element of x that output `y` meets at `tap`, zero where that is padding.
  Value readX(LoopEmitter &e, Value x, Index sample, Index channel, Index y,
              Index tap) const {
    SmallVector<Index> at{sample, channel}, out = e.delinearize(y, yShape()),
                                            k = e.delinearize(tap, tapShape());
    Value inside;
    for (auto [d, extent] : llvm::enumerate(xShape())) {
      at.push_back(out[d] * c.window.strides[d] + k[d] * c.window.dilations[d] -
                   c.window.padLow[d]);
      inside = e.both(inside, e.inRange(at.back(), 0, extent));
    }
    return orZero(e, inside, [&] { return e.read(x, at); });
  }

  /// Element of y that input `x` is met by at `tap`, zero where there is none.
  Value readY(LoopEmitter &e, Value y, Index sample, Index channel, Index x,
              Index tap) const {
    SmallVector<Index> at{sample, channel}, in = e.delinearize(x, xShape()),
                                            k = e.delinearize(tap, tapShape());
    Value inside;
    for (auto [d, extent] : llvm::enumerate(yShape())) {
      Index place = in[d] + c.window.padLow[d] - k[d] * c.window.dilations[d];
      int64_t stride = c.window.strides[d];
      inside = e.both(inside, e.inRange(e.mod(place, stride), 0, 1));
      at.push_back(e.floorDiv(place, stride));
      inside = e.both(inside, e.inRange(at.back(), 0, extent));
    }
    return orZero(e, inside, [&] { return e.read(y, at); });
  }

  /// A product for each group and sample, or, where the planes of the result
  /// are small, one over all samples, whose rows are then put in place.
  void
  emit(LoopEmitter &e, Value result, int64_t rows, int64_t plane, int64_t depth,
       function_ref<Value(Index group, Index row, Index k)> readA,
       function_ref<Value(Index sample, Index group, Index k, Index column)>
           readB) const {
    Value address = e.getBuffer(result);
    int64_t groups = c.groups;
    bool joined = plane < 64 && samples > 1;
    Value joinedAddress;
    if (joined)
      joinedAddress = e.getScratch(rows * plane * samples *
                                   type().getIntOrFloatBitWidth() / 8);
    e.sequence(groups, [&](Index group) {
      auto factorA = [&](Index row, Index k) { return readA(group, row, k); };
      if (!joined) {
        e.sequence(samples, [&](Index sample) {
          auto factorB = [&](Index k, Index column) {
            return readB(sample, group, k, column);
          };
          MatrixProduct{type(),  rows,
                        plane,   depth,
                        factorA, factorB,
                        address, (sample * groups + group) * (rows * plane),
                        plane}
              .emit(e);
        });
        return;
      }
      auto factorB = [&](Index k, Index column) {
        return readB(e.floorDiv(column, plane), group, k, e.mod(column, plane));
      };
      int64_t columns = samples * plane;
      MatrixProduct{type(),  rows,          columns,       depth,  factorA,
                    factorB, joinedAddress, e.constant(0), columns}
          .emit(e);
      e.forEach({samples, rows, plane}, [&](ArrayRef<Index> i) {
        Value element = e.loadAt(joinedAddress, type(),
                                 i[1] * columns + i[0] * plane + i[2]);
        e.store(result, element,
                ((i[0] * groups + group) * rows + i[1]) * plane + i[2]);
      });
    });
  }

private:
  Value orZero(LoopEmitter &e, Value inside, function_ref<Value()> read) const {
    return e.branch(inside, read, [&] { return e.constantLike(type(), 0); });
  }
};
} // namespace

bool ConvOp::isPushed() {
  Product p(getConvolution());
  return p.samples > 0 &&
         MatrixProduct::pays(p.type(), p.outputs, p.yPlane, p.inputs * p.taps);
}
bool ConvInputGradOp::isPushed() {
  Product p(getConvolution());
  return p.samples > 0 &&
         MatrixProduct::pays(p.type(), p.inputs, p.xPlane, p.outputs * p.taps);
}
bool ConvWeightGradOp::isPushed() {
  Product p(getConvolution());
  return MatrixProduct::pays(p.type(), p.outputs, p.inputs * p.taps,
                             p.samples * p.yPlane);
}

LogicalResult ConvOp::emitLoops(LoopEmitter &e) {
  Product p(getConvolution());
  int64_t depth = p.inputs * p.taps;
  p.emit(
      e, getResult(), p.outputs, p.yPlane, depth,
      [&](Index group, Index row, Index k) {
        return e.read(getKernel(),
                      ElementIndex(e, p.c.w.getShape(),
                                   (group * p.outputs + row) * depth + k));
      },
      [&](Index sample, Index group, Index k, Index column) {
        return p.readX(e, getInput(), sample,
                       group * p.inputs + e.floorDiv(k, p.taps), column,
                       e.mod(k, p.taps));
      });
  return success();
}

LogicalResult ConvInputGradOp::emitLoops(LoopEmitter &e) {
  Product p(getConvolution());
  p.emit(
      e, getResult(), p.inputs, p.xPlane, p.outputs * p.taps,
      [&](Index group, Index row, Index k) {
        Index output = group * p.outputs + e.floorDiv(k, p.taps);
        return e.read(getKernel(),
                      ElementIndex(e, p.c.w.getShape(),
                                   (output * p.inputs + row) * p.taps +
                                       e.mod(k, p.taps)));
      },
      [&](Index sample, Index group, Index k, Index column) {
        return p.readY(e, getGrad(), sample,
                       group * p.outputs + e.floorDiv(k, p.taps), column,
                       e.mod(k, p.taps));
      });
  return success();
}

LogicalResult ConvWeightGradOp::emitLoops(LoopEmitter &e) {
  Product p(getConvolution());
  int64_t columns = p.inputs * p.taps;
  Value address = e.getBuffer(getResult());
  e.sequence(p.c.groups, [&](Index group) {
    auto readA = [&](Index row, Index k) {
      Index sample = e.floorDiv(k, p.yPlane), at = e.mod(k, p.yPlane);
      Index channel = group * p.outputs + row;
      return e.read(
          getGrad(),
          ElementIndex(e, p.c.y.getShape(),
                       (sample * p.c.y.getDimSize(1) + channel) * p.yPlane +
                           at));
    };
    auto readB = [&](Index k, Index column) {
      return p.readX(e, getInput(), e.floorDiv(k, p.yPlane),
                     group * p.inputs + e.floorDiv(column, p.taps),
                     e.mod(k, p.yPlane), e.mod(column, p.taps));
    };
    MatrixProduct{p.type(), p.outputs, columns, p.samples * p.yPlane,
                  readA,    readB,     address, group * (p.outputs * columns),
                  columns}
        .emit(e);
  });
  return success();
}

/// sum + a * b where `inside` holds, else sum.
static Value addProduct(LoopEmitter &e, Combiner &combiner, Value inside,
                        Value sum, function_ref<Value()> a,
                        function_ref<Value()> b) {
  return e.branch(
      inside,
      [&] {
        return combiner.accumulateProduct(sum, combiner.widen(a()),
                                          combiner.widen(b()));
      },
      [&] { return sum; });
}

Value ConvOp::emitElementAt(LoopEmitter &e, unsigned,
                            const ElementIndex &index) {
  Convolution c = getConvolution();
  int64_t inputs = c.w.getDimSize(1), outputs = c.w.getDimSize(0);
  SmallVector<int64_t> extents(c.w.getShape().drop_front(1));
  Index group = e.floorDiv(index[1], outputs / c.groups);
  Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        SmallVector<Index> x{index[0], group * inputs + k[0]}, w{index[1]};
        llvm::append_range(w, k);
        Value inside;
        for (auto [d, extent] : llvm::enumerate(c.x.getShape().drop_front(2))) {
          x.push_back(index[d + 2] * c.window.strides[d] +
                      k[d + 1] * c.window.dilations[d] - c.window.padLow[d]);
          inside = e.both(inside, e.inRange(x.back(), 0, extent));
        }
        return Values{addProduct(
            e, combiner, inside, carried[0],
            [&] { return e.read(getInput(), x); },
            [&] { return e.read(getKernel(), w); })};
      })[0];
  return combiner.narrow(sum);
}

Value ConvInputGradOp::emitElementAt(LoopEmitter &e, unsigned,
                                     const ElementIndex &index) {
  Convolution c = getConvolution();
  int64_t inputs = c.w.getDimSize(1), perGroup = c.w.getDimSize(0) / c.groups;
  SmallVector<int64_t> extents{perGroup};
  llvm::append_range(extents, c.w.getShape().drop_front(2));
  Index group = e.floorDiv(index[1], inputs), within = e.mod(index[1], inputs);
  Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        Index output = group * perGroup + k[0];
        SmallVector<Index> y{index[0], output}, w{output, within};
        Value inside;
        for (auto [d, extent] : llvm::enumerate(c.y.getShape().drop_front(2))) {
          w.push_back(k[d + 1]);
          Index at = index[d + 2] + c.window.padLow[d] -
                     k[d + 1] * c.window.dilations[d];
          int64_t stride = c.window.strides[d];
          inside = e.both(inside, e.inRange(e.mod(at, stride), 0, 1));
          y.push_back(e.floorDiv(at, stride));
          inside = e.both(inside, e.inRange(y.back(), 0, extent));
        }
        return Values{addProduct(
            e, combiner, inside, carried[0],
            [&] { return e.read(getGrad(), y); },
            [&] { return e.read(getKernel(), w); })};
      })[0];
  return combiner.narrow(sum);
}

Value ConvWeightGradOp::emitElementAt(LoopEmitter &e, unsigned,
                                      const ElementIndex &index) {
  Convolution c = getConvolution();
  int64_t inputs = c.w.getDimSize(1), perGroup = c.w.getDimSize(0) / c.groups;
  SmallVector<int64_t> extents{c.y.getDimSize(0)};
  llvm::append_range(extents, c.y.getShape().drop_front(2));
  Index channel = e.floorDiv(index[0], perGroup) * inputs + index[1];
  Combiner combiner(e, ReduceKind::sum, c.x.getElementType());
  Value sum = e.fold(
      extents, combiner.identity(), [&](ArrayRef<Index> k, ValueRange carried) {
        SmallVector<Index> x{k[0], channel}, y{k[0], index[0]};
        Value inside;
        for (auto [d, extent] : llvm::enumerate(c.x.getShape().drop_front(2))) {
          y.push_back(k[d + 1]);
          x.push_back(k[d + 1] * c.window.strides[d] +
                      index[d + 2] * c.window.dilations[d] -
                      c.window.padLow[d]);
          inside = e.both(inside, e.inRange(x.back(), 0, extent));
        }
        return Values{addProduct(
            e, combiner, inside, carried[0],
            [&] { return e.read(getInput(), x); },
            [&] { return e.read(getGrad(), y); })};
      })[0];
  return combiner.narrow(sum);
}

// Evaluates a block op by op. A map holds the tensor of each value. The map also
// counts the uses of each value that are still to come, so that its tensor is freed
// after the last use.

#include "interpreter/Evaluator.h"

#include "dialects/Interfaces/CurrentWork.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

namespace {

class Evaluator final : public InterpreterContext {
public:
  explicit Evaluator(DeviceContext &device) : device(device) {}

  /// Runs `block`, and appends the operands of its terminator to `yielded`. If
  /// `shape` is given, the block is the body of an elementwise op. The IR of
  /// this body computes with scalars (rank 0), but the evaluator computes each
  /// value as a tensor of shape `shape`.
  LogicalResult runBlock(Block &block, ArrayRef<HostTensor> arguments,
                         std::optional<ArrayRef<int64_t>> shape,
                         SmallVectorImpl<HostTensor> &yielded) {
    for (auto [argument, tensor] : llvm::zip_equal(block.getArguments(), arguments))
      define(argument, tensor);
    for (Operation &op : block.without_terminator())
      if (failed(runOp(op, shape)))
        return failure();
    for (Value value : block.getTerminator()->getOperands())
      yielded.push_back(values.find(value)->second.tensor);
    return success();
  }

  LogicalResult runRegion(Region &region, ArrayRef<HostTensor> arguments,
                          SmallVectorImpl<HostTensor> &yielded) override {
    Evaluator inner(device);
    // A region that is not isolated from above may use values of the enclosing
    // block. The inner evaluator finds them through `outer`.
    inner.outer = this;
    return inner.runBlock(region.front(), arguments, std::nullopt, yielded);
  }

  LogicalResult runElementwiseRegion(Region &region, ArrayRef<int64_t> shape,
                                     ArrayRef<HostTensor> arguments,
                                     SmallVectorImpl<HostTensor> &yielded) override {
    Evaluator inner(device);
    return inner.runBlock(region.front(), arguments, shape, yielded);
  }

  int64_t getAxisIndex(StringRef axis) override { return device.getAxisIndex(axis); }

  int64_t getGroupIndex(ArrayRef<StringRef> axes) override { return device.getGroupIndex(axes); }

  void setSequentialIndex(StringRef axis, int64_t index) override {
    device.setSequentialIndex(axis, index);
  }

  FailureOr<std::vector<HostTensor>> exchange(Operation *op, ArrayRef<StringRef> axes,
                                              const HostTensor &mine) override {
    return device.exchange(op, axes, mine);
  }

  LogicalResult send(Operation *op, StringRef axis, int64_t stage, int64_t number,
                     const HostTensor &tensor) override {
    return device.send(op, axis, stage, number, tensor);
  }

  FailureOr<HostTensor> receive(Operation *op, StringRef axis, int64_t stage,
                                int64_t number) override {
    return device.receive(op, axis, stage, number);
  }

  FailureOr<std::vector<HostTensor>> exchangeAmong(Operation *op, StringRef axis,
                                                   ArrayRef<int64_t> stages, int64_t number,
                                                   const HostTensor &mine) override {
    return device.exchangeAmong(op, axis, stages, number, mine);
  }

private:
  struct Slot {
    HostTensor tensor;
    int64_t usesLeft;
  };

  void define(Value value, HostTensor tensor) {
    values[value] = {std::move(tensor), static_cast<int64_t>(llvm::range_size(value.getUses()))};
  }

  const HostTensor *lookup(Value value) {
    auto it = values.find(value);
    if (it != values.end())
      return &it->second.tensor;
    return outer ? outer->lookup(value) : nullptr;
  }

  LogicalResult runOp(Operation &op, std::optional<ArrayRef<int64_t>> shape) {
    CurrentWork work(op.getLoc(), op.getName().getStringRef());
    auto rule = dyn_cast<InterpretableOpInterface>(op);
    if (!rule)
      return op.emitOpError("has no interpreter rule");
    SmallVector<const HostTensor *> operands;
    for (Value operand : op.getOperands()) {
      const HostTensor *tensor = lookup(operand);
      if (!tensor)
        return op.emitOpError("reads a value that was not computed");
      operands.push_back(tensor);
    }
    SmallVector<HostTensor> results;
    for (Type type : op.getResultTypes()) {
      auto tensorType = dyn_cast<RankedTensorType>(type);
      if (!tensorType || !tensorType.hasStaticShape())
        return op.emitOpError("gives ") << type << ", which is no tensor of "
                                        << "static shape";
      if (shape)
        tensorType = RankedTensorType::get(*shape, tensorType.getElementType());
      results.emplace_back(tensorType);
    }
    if (failed(rule.interpret(*this, operands, results)))
      return failure();
    for (auto [value, tensor] : llvm::zip_equal(op.getResults(), results)) {
      auto dense = tensor.getType();
      if (shape && dense.getShape() != *shape)
        // A constant in an elementwise region is a scalar. Its element is
        // repeated to fill `shape`.
        tensor = HostTensor::splat(RankedTensorType::get(*shape, dense.getElementType()),
                                   tensor.isFloat() ? tensor.floats[0] : tensor.ints[0]);
      tensor.roundToType();
      if (!value.use_empty())
        define(value, std::move(tensor));
    }
    for (Value operand : op.getOperands()) {
      auto it = values.find(operand);
      if (it != values.end() && --it->second.usesLeft == 0)
        values.erase(it);
    }
    return success();
  }

  DeviceContext &device;
  Evaluator *outer = nullptr;
  // The map is accessed by key only, so its iteration order has no effect on
  // results.
  llvm::DenseMap<Value, Slot> values;
};

} // namespace

LogicalResult DeviceContext::send(Operation *op, StringRef, int64_t, int64_t, const HostTensor &) {
  return failWithoutStages(op);
}

FailureOr<HostTensor> DeviceContext::receive(Operation *op, StringRef, int64_t, int64_t) {
  (void)failWithoutStages(op);
  return failure();
}

FailureOr<std::vector<HostTensor>> DeviceContext::exchangeAmong(Operation *op, StringRef,
                                                                ArrayRef<int64_t>, int64_t,
                                                                const HostTensor &) {
  (void)failWithoutStages(op);
  return failure();
}

FailureOr<std::vector<HostTensor>> dpc::evaluate(FunctionOpInterface function,
                                                 std::vector<HostTensor> arguments,
                                                 DeviceContext &device) {
  if (function.isExternal())
    return function.emitError("has no body to run"), failure();
  SmallVector<HostTensor> results;
  Evaluator evaluator(device);
  if (failed(
          evaluator.runBlock(function.getFunctionBody().front(), arguments, std::nullopt, results)))
    return failure();
  return std::vector<HostTensor>(std::make_move_iterator(results.begin()),
                                 std::make_move_iterator(results.end()));
}

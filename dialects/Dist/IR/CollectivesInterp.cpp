// Interpreter rules of the dist ops. A collective calls
// InterpreterContext::exchange once, and computes its result from the tensors of
// all members. Every member combines these tensors in the order of the members in
// the group, so that all members get the same bits.

#include "dialects/Dist/IR/Collectives.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

using Operands = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

LogicalResult AxisIndexOp::interpret(InterpreterContext &context, Operands, Results out) {
  out[0].ints[0] = context.getAxisIndex(getAxis());
  return success();
}

static SmallVector<StringRef> names(ArrayAttr axes) {
  return llvm::to_vector(axes.getAsValueRange<StringAttr>());
}

/// Adds `from` to `to`, or sets `to` to the elementwise maximum or minimum of
/// both. The maximum and the minimum of a NaN and any value are NaN.
static void combineInto(HostTensor &to, const HostTensor &from, Reduction kind) {
  auto apply = [&](auto &left, const auto &right) {
    for (size_t i = 0; i < left.size(); ++i) {
      if (kind == Reduction::sum)
        left[i] += right[i];
      else if (left[i] != left[i] || right[i] != right[i])
        left[i] += right[i];
      else if (kind == Reduction::max)
        left[i] = std::max(left[i], right[i]);
      else
        left[i] = std::min(left[i], right[i]);
    }
  };
  apply(to.floats, from.floats);
  apply(to.ints, from.ints);
}

LogicalResult AllReduceOp::interpret(InterpreterContext &context, Operands in, Results out) {
  FailureOr<std::vector<HostTensor>> all = context.exchange(*this, names(getAxes()), *in[0]);
  if (failed(all))
    return failure();
  out[0] = (*all)[0];
  for (const HostTensor &other : llvm::drop_begin(*all))
    combineInto(out[0], other, getReduction());
  return success();
}

LogicalResult AllGatherOp::interpret(InterpreterContext &context, Operands in, Results out) {
  FailureOr<std::vector<HostTensor>> all = context.exchange(*this, names(getAxes()), *in[0]);
  if (failed(all))
    return failure();
  size_t offset = 0;
  for (const HostTensor &part : *all) {
    std::copy(part.floats.begin(), part.floats.end(),
              out[0].floats.begin() + (part.isFloat() ? offset : 0));
    std::copy(part.ints.begin(), part.ints.end(),
              out[0].ints.begin() + (part.isFloat() ? 0 : offset));
    offset += part.size();
  }
  return success();
}

LogicalResult ReduceScatterOp::interpret(InterpreterContext &context, Operands in, Results out) {
  FailureOr<std::vector<HostTensor>> all = context.exchange(*this, names(getAxes()), *in[0]);
  if (failed(all))
    return failure();
  HostTensor sum = (*all)[0];
  for (const HostTensor &other : llvm::drop_begin(*all))
    combineInto(sum, other, getReduction());
  int64_t member = context.getGroupIndex(names(getAxes()));
  int64_t offset = member * out[0].size();
  for (int64_t i = 0; i < out[0].size(); ++i) {
    if (out[0].isFloat())
      out[0].floats[i] = sum.floats[offset + i];
    else
      out[0].ints[i] = sum.ints[offset + i];
  }
  return success();
}

LogicalResult AllToAllOp::interpret(InterpreterContext &context, Operands in, Results out) {
  FailureOr<std::vector<HostTensor>> all = context.exchange(*this, names(getAxes()), *in[0]);
  if (failed(all))
    return failure();
  const int64_t size = out[0].size() / all->size();
  const int64_t from = context.getGroupIndex(names(getAxes())) * size;
  auto copySlice = [&](const auto &part, auto &to, int64_t member) {
    if (!part.empty())
      std::copy_n(part.begin() + from, size, to.begin() + member * size);
  };
  for (auto [member, part] : llvm::enumerate(*all)) {
    copySlice(part.floats, out[0].floats, member);
    copySlice(part.ints, out[0].ints, member);
  }
  return success();
}

/// Copies between `inside` and slice `iteration` of `outside` along its first
/// dimension. If `toInside` is set, copies to `inside`, otherwise from `inside`.
static void copySlice(HostTensor &outside, HostTensor &inside, int64_t iteration, bool toInside) {
  int64_t size = inside.size(), offset = iteration * size;
  for (int64_t i = 0; i < size; ++i) {
    if (inside.isFloat()) {
      double &a = outside.floats[offset + i], &b = inside.floats[i];
      (toInside ? b : a) = toInside ? a : b;
    } else {
      int64_t &a = outside.ints[offset + i], &b = inside.ints[i];
      (toInside ? b : a) = toInside ? a : b;
    }
  }
}

LogicalResult MicroOp::interpret(InterpreterContext &context, Operands in, Results out) {
  for (int64_t iteration = 0; iteration < int64_t(getCount()); ++iteration) {
    SmallVector<HostTensor> arguments, yielded;
    for (auto [index, operand] : llvm::enumerate(in)) {
      if (getOperandKind(index) == MicroKind::whole) {
        arguments.push_back(*operand);
        continue;
      }
      HostTensor slice(cast<RankedTensorType>(getBodyBlock().getArgument(index).getType()));
      HostTensor copy = *operand;
      copySlice(copy, slice, iteration, /*toInside=*/true);
      arguments.push_back(std::move(slice));
    }
    context.setSequentialIndex(getAxis(), iteration);
    if (failed(context.runRegion(getBody(), arguments, yielded)))
      return failure();
    for (auto [index, value] : llvm::enumerate(yielded)) {
      if (getResultKind(index) == MicroKind::stacked)
        copySlice(out[index], value, iteration, /*toInside=*/false);
      else
        combineInto(out[index], value, Reduction::sum);
    }
  }
  context.setSequentialIndex(getAxis(), 0);
  return success();
}

#ifndef DPC_TEST_UNIT_SHARDINGPARTS_H
#define DPC_TEST_UNIT_SHARDINGPARTS_H

// Sharding rules against what the parts of a cut op compute: for tests of
// single ops.

#include "test/unit/StraightLine.h"

namespace dpc::test {

using Extents = std::vector<int64_t>;

/// A range of one loop, the others whole.
struct LoopPart {
  const ShardingRule &rule;
  unsigned loop;
  int64_t from, to;

  /// Indices of a dimension whose index of the loop is in the range; all of a
  /// segment that the loop takes no part in.
  Extents indicesOf(const ShardingRule::DimLoops &dim) const {
    Extents indices;
    int64_t base = 0;
    for (const auto &segment : dim) {
      int64_t size = 1, minor = 0; // minor: extent of the loops inside
      for (unsigned l : segment) {
        minor = l == loop ? 1 : minor * rule.loops[l].size;
        size *= rule.loops[l].size;
      }
      for (int64_t i = 0; i < size; ++i) {
        int64_t own = minor ? i / minor % rule.loops[loop].size : from;
        if (own >= from && own < to)
          indices.push_back(base + i);
      }
      base += size;
    }
    return indices;
  }

  std::vector<Extents> indicesOf(const ShardingRule::ValueLoops &dims) const {
    std::vector<Extents> indices;
    for (const ShardingRule::DimLoops &dim : dims)
      indices.push_back(indicesOf(dim));
    return indices;
  }
};

inline mlir::RankedTensorType partType(mlir::RankedTensorType type,
                                       const std::vector<Extents> &indices) {
  Extents shape;
  for (const Extents &list : indices)
    shape.push_back(list.size());
  return nn::withShape(type, shape);
}

/// Calls `visit(whole, part)` with the offsets of each element of a part.
inline void forEachOfPart(mlir::RankedTensorType whole, const std::vector<Extents> &indices,
                          llvm::function_ref<void(int64_t, int64_t)> visit) {
  auto strides = rowMajorStrides(whole.getShape());
  int64_t part = 0;
  forEachIndex(partType(whole, indices).getShape(), [&](llvm::ArrayRef<int64_t> at) {
    int64_t offset = 0;
    for (size_t d = 0; d < at.size(); ++d)
      offset += indices[d][at[d]] * strides[d];
    visit(offset, part++);
  });
}

/// The elements of `tensor` as numbers.
inline std::vector<double> numbersOf(const HostTensor &tensor) {
  return tensor.isFloat() ? tensor.floats
                          : std::vector<double>(tensor.ints.begin(), tensor.ints.end());
}

/// What `op` computes on a part: the same op on the types of the part.
inline HostTensor runPart(Outcome &run, mlir::Operation *op, const LoopPart &part,
                          llvm::function_ref<void(mlir::Operation *)> adapt) {
  mlir::OpBuilder builder(&run.machine->getContext());
  std::vector<HostTensor> arguments;
  llvm::SmallVector<mlir::Type> types;
  for (size_t i = 0; i < run.in.size(); ++i) {
    auto indices = part.indicesOf(part.rule.operands[i]);
    HostTensor local(partType(run.in[i].getType(), indices));
    forEachOfPart(run.in[i].getType(), indices, [&](int64_t whole, int64_t at) {
      if (local.isFloat())
        local.floats[at] = run.in[i].floats[whole];
      else
        local.ints[at] = run.in[i].ints[whole];
    });
    types.push_back(local.getType());
    arguments.push_back(local);
  }
  mlir::RankedTensorType result = partType(run.out.getType(), part.indicesOf(part.rule.results[0]));
  mlir::OwningOpRef<mlir::func::FuncOp> function = builder.create<mlir::func::FuncOp>(
      op->getLoc(), "part", builder.getFunctionType(types, result));
  mlir::Block *block = function->addEntryBlock();
  builder.setInsertionPointToStart(block);
  mlir::Operation *local = builder.clone(*op);
  local->setOperands(block->getArguments());
  local->getResult(0).setType(result);
  builder.create<mlir::func::ReturnOp>(op->getLoc(), local->getResults());
  adapt(local);
  EXPECT_TRUE(mlir::succeeded(mlir::verify(*function)));
  return run.machine->run(*function, arguments)[0];
}

/// Expects of the first op of the function in `text` (one result) that for every loop that may be
/// cut, two unequal parts give the whole, and that the op is additive in its additive sets. `adapt`
/// sets the attributes that the local op does not share with the whole one. Returns how many loops
/// of more than one element may be cut.
inline int expectShardable(
    llvm::StringRef text,
    llvm::function_ref<void(mlir::Operation *)> adapt = [](mlir::Operation *) {}) {
  Outcome run(text);
  mlir::Operation *op = run.getOp();
  ShardingRule rule = llvm::cast<ShardableOpInterface>(op).getShardingRule();
  int cuts = 0;
  for (auto [loop, entry] : llvm::enumerate(rule.loops)) {
    if (entry.kind == LoopKind::whole || entry.size < 2)
      continue;
    SCOPED_TRACE(testing::Message() << text.str() << " loop " << loop);
    ++cuts;
    double identity = entry.kind == LoopKind::max   ? -INFINITY
                      : entry.kind == LoopKind::min ? INFINITY
                                                    : 0;
    std::vector<double> joined(run.out.size(), identity);
    int64_t half = (entry.size + 1) / 2;
    for (auto [from, to] : {std::pair(int64_t(0), half), {half, entry.size}}) {
      LoopPart part{rule, unsigned(loop), from, to};
      const std::vector<double> local = numbersOf(runPart(run, op, part, adapt));
      forEachOfPart(run.out.getType(), part.indicesOf(rule.results[0]),
                    [&](int64_t whole, int64_t at) {
                      double &slot = joined[whole], value = local[at];
                      slot = entry.kind == LoopKind::sum   ? slot + value
                             : entry.kind == LoopKind::max ? std::max(slot, value)
                             : entry.kind == LoopKind::min ? std::min(slot, value)
                                                           : value;
                    });
    }
    if (entry.kind == LoopKind::sum) {
      EXPECT_LE(relativeError(joined, numbersOf(run.out)), 1e-14);
    } else {
      EXPECT_EQ(joined, numbersOf(run.out));
    }
  }
  for (const auto &set : rule.additiveSets) {
    std::vector<HostTensor> first = run.in, second = run.in;
    for (unsigned i : set) {
      first[i] = randomTensor(first[i].getType(), 99 + i);
      for (size_t k = 0; k < first[i].floats.size(); ++k)
        second[i].floats[k] -= first[i].floats[k];
    }
    mlir::func::FuncOp function = run.machine->getFunction();
    HostTensor sum = run.machine->run(function, first)[0];
    HostTensor rest = run.machine->run(function, second)[0];
    for (size_t k = 0; k < sum.floats.size(); ++k)
      sum.floats[k] += rest.floats[k];
    EXPECT_LE(relativeError(sum.floats, run.out.floats), 1e-13) << text.str();
  }
  return cuts;
}

} // namespace dpc::test

#endif // DPC_TEST_UNIT_SHARDINGPARTS_H

// Follows the batch dimensions from the inputs of a function to its values. Each op's sharding rule
// says how the dimensions of its operands continue in its results.

#include "passes/Autodiff/SampleDim.h"

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace dpc;

namespace {

/// Returns the nn.arg of `argument` if it is an input with a batch dimension, otherwise null.
nn::ArgAttr getBatched(func::FuncOp function, BlockArgument argument) {
  nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
  return arg && arg.getKind() == nn::ArgKind::input && arg.getBatch() >= 0 ? arg : nn::ArgAttr();
}

/// A factor of the extent of a dimension. `isSamples` says whether it is also a factor of the
/// number of samples. For example, if a batch of 8 is reshaped to 2 x 4, both dimensions have such
/// a factor.
struct Factor {
  int64_t size;
  bool isSamples;
};

using Factors = SmallVector<Factor, 2>; ///< the factors of one dimension or loop, outermost first
using ValueFactors = SmallVector<Factors, 4>;

bool hasSamples(const Factors &factors) {
  return llvm::any_of(factors, [](const Factor &factor) { return factor.isSamples; });
}

/// Divides the factors `dim` of a dimension among `loops`, and puts the factors of each loop that
/// has samples into `out`. The extent of the dimension is the product of the sizes of all `loops`.
/// For example, for loops of sizes 2 and 4 the factor 8 becomes the factors 2 and 4. Stops at the
/// first loop whose size is no product of the factors that are left, or of parts of them.
void divide(const Factors &dim, ArrayRef<unsigned> loops, const ShardingRule &rule,
            DenseMap<unsigned, Factors> &out) {
  auto add = [&](unsigned loop, const Factors &its) {
    if (hasSamples(its))
      out.try_emplace(loop, its);
  };
  if (loops.size() == 1)
    return add(loops[0], dim);
  Factors rest = llvm::to_vector<2>(llvm::reverse(dim));
  for (unsigned loop : loops) {
    Factors its;
    for (int64_t left = rule.loops[loop].size; left > 1;) {
      if (rest.empty())
        return;
      Factor &next = rest.back();
      const int64_t taken = std::min(left, next.size);
      if (taken < 1 || left % taken || next.size % taken)
        return;
      its.push_back({taken, next.isSamples});
      left /= taken;
      next.size /= taken;
      if (next.size == 1)
        rest.pop_back();
    }
    add(loop, its);
  }
}

/// The factors of those values of a function that are known to have samples along a dimension.
class Samples {
public:
  explicit Samples(func::FuncOp function) {
    for (BlockArgument argument : function.getArguments()) {
      nn::ArgAttr arg = getBatched(function, argument);
      if (!arg)
        continue;
      ValueFactors dims;
      for (int64_t extent : nn::typeOf(argument).getShape())
        dims.push_back({{extent, int64_t(dims.size()) == arg.getBatch()}});
      known.try_emplace(argument, std::move(dims));
    }
    for (Operation &op : function.front())
      follow(op);
  }

  /// Returns the factors of `value`, or null if no dimension of `value` is known to have samples.
  const ValueFactors *find(Value value) const {
    auto found = known.find(value);
    return found == known.end() ? nullptr : &found->second;
  }

private:
  void follow(Operation &op) {
    auto shardable = dyn_cast<ShardableOpInterface>(op);
    if (!shardable || llvm::none_of(op.getOperands(), [&](Value each) { return find(each); }))
      return;
    const ShardingRule rule = shardable.getShardingRule();
    DenseMap<unsigned, Factors> loops;
    for (auto [operand, dims] : llvm::zip(op.getOperands(), rule.operands))
      if (const ValueFactors *its = find(operand))
        for (auto [factors, segments] : llvm::zip(*its, dims))
          if (segments.size() == 1)
            divide(factors, segments[0], rule, loops);
    for (auto [result, dims] : llvm::zip(op.getResults(), rule.results)) {
      ValueFactors made;
      bool counts = false;
      for (const ShardingRule::DimLoops &segments : dims) {
        Factors &dim = made.emplace_back();
        if (segments.size() == 1)
          for (unsigned loop : segments[0]) {
            auto its = loops.find(loop);
            if (its == loops.end())
              dim.push_back({rule.loops[loop].size, false});
            else
              dim.append(its->second);
          }
        counts |= hasSamples(dim);
      }
      if (counts)
        known.try_emplace(result, std::move(made));
    }
  }

  DenseMap<Value, ValueFactors> known;
};

} // namespace

BlockArgument dpc::findBatchedInput(func::FuncOp function) {
  for (BlockArgument argument : function.getArguments())
    if (getBatched(function, argument))
      return argument;
  return {};
}

std::optional<int64_t> dpc::getBatch(func::FuncOp function) {
  BlockArgument input = findBatchedInput(function);
  if (!input)
    return std::nullopt;
  return nn::typeOf(input).getDimSize(getBatched(function, input).getBatch());
}

std::optional<int64_t> dpc::findSampleDim(func::FuncOp function, Value value, int64_t except) {
  const std::optional<int64_t> batch = getBatch(function);
  const Samples samples(function);
  const ValueFactors *dims = samples.find(value);
  if (!batch || !dims)
    return std::nullopt;
  for (auto [d, factors] : llvm::enumerate(*dims)) {
    int64_t count = 1;
    for (const Factor &factor : factors) {
      if (!factor.isSamples)
        break;
      count *= factor.size;
    }
    if (int64_t(d) != except && hasSamples(factors) && count == *batch)
      return d;
  }
  return std::nullopt;
}

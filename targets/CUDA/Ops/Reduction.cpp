// Grid fill rule of nn.reduce for results with many terms, which several threads or
// blocks share.

#include "dialects/NN/IR/Reduction.h"
#include "dialects/NN/IR/Contraction.h"
#include "dialects/NN/IR/Fusion.h"
#include "targets/CUDA/Grids/DividedTerms.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Ops/Ops.h"
#include "targets/Loops/Combiner.h"
#include "targets/Loops/Rules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// With fewer than kFewResults results, one block per result leaves most of a
/// device idle. Results with at least kManyTerms terms are worth several blocks.
static const int64_t kFewResults = 64, kManyTerms = 1 << 13;
/// If there are at least kNeighbours neighbouring results with at least
/// kColumnTerms terms each, a block computes neighbouring results together. If
/// there are at least kManyResults results, the rule does not pay, because one thread
/// per result keeps a device busy. For results with at least kVeryManyTerms terms, this
/// needs eight times as many results.
static const int64_t kNeighbours = 8, kColumnTerms = 64;
static const int64_t kManyResults = 1 << 12, kVeryManyTerms = 1 << 10;
/// The number of blocks that keep a device busy, and the number of terms that are
/// worth a thread.
static const int64_t kEnoughBlocks = 512, kThreadTerms = 16;
/// The bytes of a line of memory and of the widest access, and the most neighbours of a thread.
static const int64_t kLineBytes = 128, kAccessBytes = 16, kMostNeighbours = 8;
/// The bytes of the largest accumulator, and the most shared memory in which threads combine them.
static const int64_t kMostBytes = 8, kCombinedBytes = 32 * 1024;

namespace {

/// A reduction whose work is divided among blocks and threads. A block computes some neighbouring
/// results, with several threads for the terms of each. Unless the innermost dimension is reduced,
/// `inner` neighbours in memory are terms of neighbouring results, and a thread adds up as many as
/// one access loads. If it is reduced, a thread adds up such a run of terms of one result. If there
/// are few results, several blocks share the terms of each, and a second launch combines their
/// partial results.
class DividedReduction {
public:
  explicit DividedReduction(ReduceOp op)
      : op(op), type(typeOf(op.getInput())), results(typeOf(op.getResult()).getNumElements()),
        terms(type.getNumElements() / std::max<int64_t>(1, results)) {
    const int64_t last = op.getDimensions().empty() ? -1 : op.getDimensions().back();
    for (int64_t extent : type.getShape().drop_front(last + 1))
      inner *= extent;
    const int64_t bytes = bytesInMemory(op.getInput());
    wide = std::min(kAccessBytes / bytes, kMostNeighbours);
    if (inner == 1 && last >= 0)
      run = std::gcd(wide, type.getShape().back());
    while (inner % wide != 0)
      wide /= 2;
    const int64_t line = wide > 1 ? kLineBytes / (wide * bytes) : LaunchPlan::kWarp;
    while (lanes < line && lanes * wide < inner)
      lanes *= 2;
    const int64_t tiles = getTiles(), most = terms * wide / (getThreadsPerResult() * kThreadTerms);
    parts = std::clamp<int64_t>(llvm::divideCeil(kEnoughBlocks, std::max<int64_t>(1, tiles)), 1,
                                std::max<int64_t>(1, most));
  }

  bool pays() const {
    if (op.getDimensions().empty() || results == 0 || type.getElementType().isInteger(1))
      return false;
    const int64_t many = terms < kVeryManyTerms ? kManyResults : 8 * kManyResults;
    return inner >= kNeighbours ? terms >= kColumnTerms && results < many
                                : terms >= kManyTerms && results < kFewResults;
  }

  SmallVector<TileGrid> getGrids(bool mayDivide) const;
  int64_t getScratchBytes() const;
  /// Emits a launch of this reduction and of others of its shape and kind: `ops` has all of them.
  /// The last launch also emits `finish`, if it is not null.
  void emit(GridEmitter &e, LaunchPhase phase, ArrayRef<Operation *> ops, FinishTile finish) const;
  /// Whether a launch can compute `count` such reductions: a block has the memory to combine them.
  bool fitsTogether(size_t count) const {
    return static_cast<int64_t>(count) * wide * LaunchPlan::kMaxThreads * kMostBytes <=
           kCombinedBytes;
  }

private:
  /// The bytes of the widest elements that loops read for an element of `value`: those of `value`
  /// if the kernel returns it, else those from which elementwise ops make it.
  static int64_t bytesInMemory(Value value) {
    llvm::SetVector<Value> values;
    values.insert(value);
    int64_t bytes = 1;
    for (size_t n = 0; n < values.size(); ++n) {
      Value each = values[n];
      Operation *maker = each.getDefiningOp();
      if (maker && getFusionKind(maker) == FusionKind::repeated)
        continue;
      const bool isReturned = llvm::any_of(
          each.getUsers(), [](Operation *user) { return user->hasTrait<OpTrait::IsTerminator>(); });
      if (maker && isa<ElementwiseOpInterface>(maker) && !isReturned)
        values.insert(maker->operand_begin(), maker->operand_end());
      else
        bytes =
            std::max<int64_t>(bytes, llvm::divideCeil(typeOf(each).getElementTypeBitWidth(), 8));
    }
    return bytes;
  }
  int64_t getThreadsPerResult() const { return LaunchPlan::kMaxThreads / lanes; }
  int64_t getTiles() const {
    return results / inner * static_cast<int64_t>(llvm::divideCeil(inner, lanes * wide));
  }
  /// The type of partial results. Floats are summed in f64, because in f32 rounding
  /// errors would grow with the number of terms.
  Type totalType() const {
    return op.getKind() == ReduceKind::sum && isa<FloatType>(type.getElementType())
               ? Float64Type::get(op->getContext())
               : type.getElementType();
  }
  SmallVector<Index> placeOf(GridEmitter &e, Index result, Index term, int64_t after) const;
  DividedTerms divided(int64_t shares, int64_t count, size_t reductions) const {
    return {op.getKind(), totalType(), shares, results / inner, inner,
            lanes,        count,       wide,   /*run=*/1,       static_cast<int64_t>(reductions)};
  }

  mutable ReduceOp op; // mutable because MLIR's accessors of ops are not const
  RankedTensorType type;
  int64_t results, terms, inner = 1;
  /// A block computes `lanes` x `wide` neighbouring results, with `wide` per thread. `parts` blocks
  /// share the terms of each result. A thread adds up `run` neighbouring terms.
  int64_t lanes = 1, wide = 1, run = 1, parts = 1;
};

// If sums must keep their order, one thread computes each result.
SmallVector<TileGrid> DividedReduction::getGrids(bool mayDivide) const {
  if (!mayDivide)
    return {{static_cast<int64_t>(llvm::divideCeil(results, LaunchPlan::kMaxThreads)),
             LaunchPlan::kMaxThreads}};
  // So many blocks leave 64 registers per thread, or 80 if it may have 16 sums in f64. The
  // assembler would choose 40, and spill some of them.
  const int64_t residentBlocks = wide > kMostNeighbours / 2 ? 3 : 4;
  SmallVector<TileGrid> grids{{parts * getTiles(), LaunchPlan::kMaxThreads, residentBlocks}};
  if (parts > 1)
    grids.push_back({getTiles(), LaunchPlan::kMaxThreads});
  return grids;
}

int64_t DividedReduction::getScratchBytes() const {
  Type partial = accumulatorType(totalType());
  return parts * results *
         static_cast<int64_t>(llvm::divideCeil(partial.getIntOrFloatBitWidth(), 8));
}

/// The position in the operand of the term `after` of a run. The run begins with term `term` of
/// result `result`.
SmallVector<Index> DividedReduction::placeOf(GridEmitter &e, Index result, Index term,
                                             int64_t after) const {
  SmallVector<int64_t> kept, reduced(op.getDimensions());
  for (int64_t d = 0; d < type.getRank(); ++d)
    if (!llvm::is_contained(reduced, d))
      kept.push_back(d);
  SmallVector<Index> place(type.getRank());
  auto put = [&](ArrayRef<int64_t> dimensions, Index number) {
    for (auto [d, position] :
         llvm::zip_equal(dimensions, e.delinearize(number, extentsOf(op.getInput(), dimensions))))
      place[d] = position;
  };
  put(kept, result);
  put(reduced, term);
  if (run > 1) {
    // A variable of its own, so that the addresses of a run differ by a constant.
    Index &position = place[reduced.back()];
    const Index quotient = e.bind(e.materialize(IndexSpace::exactQuotient(position, run)), 0,
                                  type.getDimSize(reduced.back()) / run - 1);
    position = quotient * run + after;
  }
  return place;
}

void DividedReduction::emit(GridEmitter &e, LaunchPhase phase, ArrayRef<Operation *> ops,
                            FinishTile finish) const {
  Combiner element(e, op.getKind(), type.getElementType());
  Combiner total(e, op.getKind(), totalType());
  const Type partial = total.identity().getType(), widened = element.identity().getType();
  auto store = [&](size_t number, Index result, Value made) {
    if (partial != widened)
      made = e.make<arith::TruncFOp>(widened, made);
    e.storeFinal(ops[number]->getResult(0), element.narrow(made), result, nullptr);
  };
  // A thread computes neighbours together with the results of all reductions for them.
  auto finishAll = [&](ArrayRef<Index> numbers) {
    if (finish && phase.isLast())
      e.finishTile(numbers, finish);
  };
  // The partial results of one reduction follow those of another.
  auto placeOfPart = [&](size_t number, Index part, Index result) {
    return (part + static_cast<int64_t>(number) * parts) * results + result;
  };
  if (phase.number > 0)
    return combineDivided(
        e, divided(1, parts, ops.size()),
        [&](size_t number, Index result, Index part, int64_t) {
          return e.loadAt(e.phaseScratch, partial, placeOfPart(number, part, result));
        },
        [&](size_t number, Index, Index result, Value made) { store(number, result, made); },
        finishAll);
  DividedTerms all = divided(parts, terms, ops.size());
  all.run = run;
  combineDivided(
      e, all,
      [&](size_t number, Index result, Index term, int64_t after) {
        Value made =
            element.widen(e.read(ops[number]->getOperand(0), placeOf(e, result, term, after)));
        return partial == widened ? made : e.make<arith::ExtFOp>(partial, made);
      },
      [&](size_t number, Index part, Index result, Value made) {
        if (parts == 1)
          return store(number, result, made);
        e.storeAt(e.phaseScratch, made, placeOfPart(number, part, result));
      },
      finishAll);
}

struct ReduceGridFill : GridFillOpInterface::ExternalModel<ReduceGridFill, ReduceOp> {
  bool pays(Operation *self) const { return DividedReduction(cast<ReduceOp>(self)).pays(); }
  // False, because otherwise several reductions of one operand could not be in one
  // kernel.
  bool givesFinalElements(Operation *) const { return false; }
  bool mayFinish(Operation *) const { return true; }
  SmallVector<TileGrid> getGrids(Operation *self, const GridOptions &options) const {
    return DividedReduction(cast<ReduceOp>(self)).getGrids(options.mayDivide);
  }
  // Reductions of one shape read an operand that they share once.
  bool mayShareLaunch(Operation *self, ArrayRef<Operation *> others) const {
    auto first = dyn_cast<ReduceOp>(others[0]), op = cast<ReduceOp>(self);
    return first && first.getKind() == op.getKind() &&
           first.getDimensions() == op.getDimensions() &&
           first.getInput().getType() == op.getInput().getType() &&
           DividedReduction(op).fitsTogether(others.size() + 1);
  }
  // The second launch reads only the partial results of the first launch.
  bool readsOperands(Operation *, LaunchPhase phase) const { return phase.number == 0; }
  int64_t getScratchBytes(Operation *self) const {
    return DividedReduction(cast<ReduceOp>(self)).getScratchBytes();
  }
  void emitTiles(Operation *self, GridEmitter &e, LaunchPhase phase, FinishTile finish) const {
    auto op = cast<ReduceOp>(self);
    if (!e.orderedSums)
      return DividedReduction(op).emit(e, phase, e.getFilled(), finish);
    ArrayRef<int64_t> shape = typeOf(op.getResult()).getShape();
    e.forEach(shape, [&](ArrayRef<Index> at) {
      ElementIndex index(e, shape, at);
      Value made = cast<ElementOpInterface>(self).emitElementAt(e, 0, index);
      e.storeFinal(op.getResult(), made, index.number(), nullptr);
    });
  }
};

} // namespace

void dpc::attachReductionGridFill(MLIRContext &context) {
  ReduceOp::attachInterface<ReduceGridFill>(context);
}

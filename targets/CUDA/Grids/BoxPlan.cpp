// Divides the loops of transpositions into boxes, and places the elements of a box in shared
// memory, so that few accesses of a warp meet in a bank.

#include "targets/CUDA/Grids/BoxPlan.h"

#include "planning/PlanError.h"
#include "targets/CUDA/Grids/SharedBanks.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <limits>
#include <vector>

using namespace mlir;
using namespace dpc;

/// The lanes of a warp, and the warps whose accesses are counted.
static const int64_t kWarpLanes = 32, kCountedWarps = 4;
/// The banks of shared memory.
static const int64_t kBanks = 32;
/// The slots that a placement leaves out after the iterations of a loop are fewer than this. If it
/// leaves out others too, they are fewer than kMostSkewedPads.
static const int64_t kMostPads = 32, kMostSkewedPads = 3;
/// The passes through shared memory over the fewest that are few enough, so that a larger box is
/// better.
static const double kGoodRatio = 1.05;
/// Nests with fewer elements, which stay in the cache, have boxes only if no threads meet.
static const int64_t kSmallNest = 1 << 16;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

SmallVector<int64_t> BoxPlan::getCounts() const {
  SmallVector<int64_t> counts;
  for (auto [extent, own] : llvm::zip_equal(extents, box))
    counts.push_back(llvm::divideCeil(extent, own));
  return counts;
}

int64_t BoxPlan::countThreads() const {
  int64_t most = countPieces(stores);
  for (const Gathered &value : gathered)
    most = std::max(most, countPieces(value.sweep));
  return std::min<int64_t>(kMostThreads, llvm::alignTo(most, kWarpLanes));
}

int64_t BoxPlan::getRun(const Sweep &sweep) const {
  int64_t run = 1;
  for (unsigned loop : llvm::drop_begin(sweep.order, sweep.outer))
    run *= box[loop];
  return run;
}

int64_t BoxPlan::getWholeRun(const Sweep &sweep) const {
  const unsigned first = sweep.order[sweep.outer];
  return getRun(sweep) / box[first] * extents[first];
}

int64_t BoxPlan::Gathered::slotOf(ArrayRef<int64_t> at) const {
  int64_t slot = 0;
  for (auto [place, step] : llvm::zip_equal(at, steps))
    slot += place * step;
  return slot + slot / period * skew;
}

int64_t BoxPlan::getBytes(const Gathered &value) const {
  SmallVector<int64_t> last;
  for (int64_t extent : box)
    last.push_back(extent - 1);
  return (value.slotOf(last) + 1) * value.slotBytes;
}

int64_t BoxPlan::getSharedBytes() const {
  int64_t bytes = 0;
  for (const Gathered &value : gathered)
    bytes += llvm::alignTo(getBytes(value), 16);
  return bytes;
}

SmallVector<int64_t> BoxPlan::locate(const Sweep &sweep, int64_t piece, int64_t n) const {
  const int64_t pieces = getRun(sweep) / sweep.lanes;
  int64_t inRun = piece % pieces * sweep.lanes + n, around = piece / pieces;
  SmallVector<int64_t> at(box.size(), 0);
  for (unsigned place = sweep.order.size(); place-- > 0;) {
    const unsigned loop = sweep.order[place];
    int64_t &rest = place < sweep.outer ? around : inRun;
    at[loop] = rest % box[loop];
    rest /= box[loop];
  }
  return at;
}

/// The positions in a box that lane n of a warp accesses together with the other lanes.
using WarpAccess = SmallVector<SmallVector<int64_t>>;

/// The accesses of the first warps of a block in the order of `sweep`.
static std::vector<WarpAccess> accessesOf(const BoxPlan &plan, const BoxPlan::Sweep &sweep) {
  const int64_t pieces = std::min(plan.countPieces(sweep), kCountedWarps * kWarpLanes);
  std::vector<WarpAccess> accesses;
  for (int64_t first = 0; first < pieces; first += kWarpLanes)
    for (int64_t n = 0; n < sweep.lanes; ++n) {
      accesses.emplace_back();
      for (int64_t piece = first; piece < std::min(pieces, first + kWarpLanes); ++piece)
        accesses.back().push_back(plan.locate(sweep, piece, n));
    }
  return accesses;
}

/// The passes through shared memory that `accesses` need, and the fewest in any placement. Stops
/// counting after `most`.
static std::pair<int64_t, int64_t> countPasses(const BoxPlan::Gathered &value,
                                               ArrayRef<WarpAccess> accesses,
                                               int64_t most = std::numeric_limits<int64_t>::max()) {
  int64_t passes = 0, fewest = 0;
  for (const WarpAccess &access : accesses) {
    SmallVector<int64_t, kWarpLanes> offsets;
    for (ArrayRef<int64_t> at : access)
      offsets.push_back(value.slotOf(at) * value.slotBytes);
    passes += countWavefronts(offsets, value.slotBytes);
    fewest +=
        llvm::divideCeil(offsets.size() * static_cast<size_t>(value.slotBytes), BoxPlan::kLine);
    if (passes > most)
      break;
  }
  return {passes, fewest};
}

std::pair<int64_t, int64_t> BoxPlan::countWavefronts() const {
  int64_t passes = 0, fewest = 0;
  for (const Gathered &value : gathered)
    for (const Sweep *sweep : {&value.sweep, &stores}) {
      const auto [own, least] = countPasses(value, accessesOf(*this, *sweep));
      passes += own;
      fewest += least;
    }
  return {passes, fewest};
}

//===----------------------------------------------------------------------===//
// Transpositions
//===----------------------------------------------------------------------===//

/// The distance of neighbours along each loop of `extents` in the operand of `op`. Null if the
/// loops do not divide the dimensions of the result.
static std::optional<SmallVector<int64_t>> stridesOf(nn::TransposeOp op,
                                                     ArrayRef<int64_t> extents) {
  const SmallVector<int64_t> own = rowMajorStrides(nn::typeOf(op.getInput()).getShape());
  ArrayRef<int64_t> shape = nn::typeOf(op.getResult()).getShape();
  SmallVector<int64_t> strides(extents.size(), 0);
  size_t loop = extents.size();
  for (size_t d = shape.size(); d-- > 0;) {
    const int64_t stride = own[static_cast<size_t>(op.getPermutation()[d])];
    for (int64_t done = 1; done < shape[d]; done *= extents[loop]) {
      if (loop-- == 0 || shape[d] % (done * extents[loop]) != 0)
        return std::nullopt;
      strides[loop] = stride * done;
    }
  }
  return strides;
}

/// Whether the innermost loop does not go through neighbours of the operand.
static bool isMoved(ArrayRef<int64_t> strides, ArrayRef<int64_t> extents) {
  for (auto [stride, extent] : llvm::zip_equal(llvm::reverse(strides), llvm::reverse(extents)))
    if (extent > 1)
      return stride != 1;
  return false;
}

/// The transpositions on whose elements with the same number the elements of `roots` depend.
/// `reads` gets the values in memory that the roots read besides, with the same number.
static llvm::SetVector<Operation *> transpositionsOf(const KernelGraph &graph,
                                                     ArrayRef<Operation *> roots,
                                                     llvm::SetVector<Value> &reads) {
  llvm::SetVector<Operation *> ops(roots.begin(), roots.end()), found;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (isa<nn::TransposeOp>(ops[i]))
      found.insert(ops[i]);
    if (!keepsNumbers(ops[i]))
      continue;
    for (Value operand : ops[i]->getOperands())
      if (Operation *maker = operand.getDefiningOp(); maker && !graph.isMaterialised(operand))
        ops.insert(maker);
      else
        reads.insert(operand);
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Planning
//===----------------------------------------------------------------------===//

namespace {
/// The sizes of the elements that loops access in one order, in bytes.
struct ElementBytes {
  int64_t least = 8, most = 1;
  void add(Value value) {
    const int64_t bytes = llvm::divideCeil(nn::typeOf(value).getElementTypeBitWidth(), 8);
    least = std::min(least, bytes);
    most = std::max(most, bytes);
  }
  /// The neighbours that fill a line of memory, if elements are not smaller than 16 bits.
  int64_t getTarget() const { return BoxPlan::kLine / std::max<int64_t>(2, std::min(least, most)); }
  int64_t getLanes() const { return std::min<int64_t>(BoxPlan::kMostNeighbours, 16 / most); }
};

class Planner {
public:
  Planner(const KernelGraph &graph, const LoopGroup::Stage &stage) : graph(graph), stage(stage) {
    plan.extents = stage.nest.extents;
    plan.box.assign(plan.extents.size(), 1);
  }

  std::optional<BoxPlan> run() {
    if (ShapedType::getNumElements(plan.extents) < BoxPlan::kFewElements || !findGathered())
      return std::nullopt;
    int64_t lanes = BoxPlan::kMostNeighbours;
    for (auto [sweep, bytes] : sweeps()) {
      reach(*sweep, bytes.getTarget());
      lanes = std::min(lanes, bytes.getLanes());
    }
    // Threads that have fewer neighbours meet in fewer banks.
    const SmallVector<int64_t> smallest = plan.box;
    for (; lanes > 0 && (!best || least > kGoodRatio); lanes /= 2) {
      plan.box = smallest;
      tryBoxes(lanes);
    }
    const bool isSmall = ShapedType::getNumElements(plan.extents) < kSmallNest;
    return isSmall && least > kGoodRatio ? std::nullopt : best;
  }

private:
  bool findGathered() {
    const int64_t elements = stage.getElements();
    llvm::SetVector<Value> reads;
    for (Operation *root : stage.roots)
      for (Value result : root->getResults())
        ofResults.add(result);
    for (Operation *op : transpositionsOf(graph, stage.roots, reads)) {
      auto transpose = cast<nn::TransposeOp>(op);
      const auto strides = stridesOf(transpose, plan.extents);
      if (!strides || !isMoved(*strides, plan.extents))
        continue;
      BoxPlan::Gathered value{transpose, *strides};
      value.sweep.order = llvm::to_vector(llvm::seq<unsigned>(0, plan.extents.size()));
      llvm::stable_sort(value.sweep.order, [&](unsigned a, unsigned b) {
        // Loops with one iteration have no stride, and come first.
        return (*strides)[b] != 0 && ((*strides)[a] == 0 || (*strides)[a] > (*strides)[b]);
      });
      const Value operand = transpose.getInput();
      ElementBytes bytes;
      Operation *maker = operand.getDefiningOp();
      if (maker && !graph.isMaterialised(operand))
        for (Value read : graph.getReads(maker))
          if (nn::typeOf(read).getNumElements() == elements)
            bytes.add(read);
      if (!maker || graph.isMaterialised(operand) || bytes.most < bytes.least)
        bytes.add(operand);
      value.slotBytes = nn::typeOf(operand).getElementTypeBitWidth() > 32 ? 8 : 4;
      plan.gathered.push_back(value);
      ofOperands.push_back(bytes);
    }
    for (Value read : reads)
      if (nn::typeOf(read).getNumElements() == elements)
        ofResults.add(read);
    plan.stores.order = llvm::to_vector(llvm::seq<unsigned>(0, plan.extents.size()));
    return !plan.gathered.empty();
  }

  SmallVector<std::pair<BoxPlan::Sweep *, ElementBytes>> sweeps() {
    SmallVector<std::pair<BoxPlan::Sweep *, ElementBytes>> all;
    for (auto [value, bytes] : llvm::zip_equal(plan.gathered, ofOperands))
      all.push_back({&value.sweep, bytes});
    all.push_back({&plan.stores, ofResults});
    return all;
  }

  /// Lets the run of `sweep` have `target` elements, if there are as many.
  void reach(const BoxPlan::Sweep &sweep, int64_t target) {
    int64_t run = 1;
    for (unsigned loop : llvm::reverse(sweep.order)) {
      const auto needed = static_cast<int64_t>(llvm::divideCeil(target, run));
      plan.box[loop] = std::max(plan.box[loop], std::min(needed, plan.extents[loop]));
      run *= plan.box[loop];
      if (2 * run >= target || plan.box[loop] < plan.extents[loop])
        return;
    }
  }

  /// Doubles the shortest run. Returns false if the box is the complete nest.
  bool grow() {
    std::optional<unsigned> best;
    int64_t shortest = std::numeric_limits<int64_t>::max();
    for (auto [sweep, bytes] : sweeps()) {
      int64_t run = 1;
      for (unsigned loop : llvm::reverse(sweep->order)) {
        run *= plan.box[loop];
        if (plan.box[loop] == plan.extents[loop])
          continue;
        if (run < shortest) {
          shortest = run;
          best = loop;
        }
        break;
      }
    }
    if (best)
      plan.box[*best] = std::min(2 * plan.box[*best], plan.extents[*best]);
    return best.has_value();
  }

  void setRun(BoxPlan::Sweep &sweep) {
    sweep.outer = sweep.order.size() - 1;
    while (sweep.outer > 0 &&
           plan.box[sweep.order[sweep.outer]] == plan.extents[sweep.order[sweep.outer]])
      --sweep.outer;
  }

  /// Tries boxes of several sizes, with pieces of at most `lanes` elements. Keeps the largest plan
  /// among those that need the fewest passes.
  void tryBoxes(int64_t lanes) {
    do {
      place(lanes);
      if (plan.getSharedBytes() > BoxPlan::kSharedBytes)
        return;
      const auto [passes, fewest] = plan.countWavefronts();
      const double ratio = std::max(kGoodRatio, double(passes) / double(fewest));
      if (best && (ratio > least || (ratio == least && lanes < best->stores.lanes)))
        continue;
      best = plan;
      least = ratio;
    } while (ShapedType::getNumElements(plan.box) < BoxPlan::kManyElements && grow());
  }

  /// Sets the pieces of threads, and places all values.
  void place(int64_t lanes) {
    for (auto [sweep, bytes] : sweeps()) {
      setRun(*sweep);
      sweep->lanes = lanes;
      while (plan.getRun(*sweep) % sweep->lanes != 0 || plan.getWholeRun(*sweep) % sweep->lanes)
        sweep->lanes /= 2;
    }
    for (BoxPlan::Gathered &value : plan.gathered)
      placeSlots(value);
  }

  /// Places the elements of a box in the order of the operand or of the results. Tries slots that
  /// are left out, until no accesses of a warp meet in a bank.
  void placeSlots(BoxPlan::Gathered &value) {
    std::vector<WarpAccess> accesses = accessesOf(plan, value.sweep);
    llvm::append_range(accesses, accessesOf(plan, plan.stores));
    BoxPlan::Gathered best;
    int64_t least = std::numeric_limits<int64_t>::max();
    // Returns whether no placement is better.
    auto tryPlacement = [&](int64_t period, int64_t skew) {
      value.period = period;
      value.skew = skew;
      const auto [passes, fewest] = countPasses(value, accesses, least);
      if (passes < least) {
        least = passes;
        best = value;
      }
      return passes == fewest;
    };
    auto tryAll = [&] {
      for (const BoxPlan::Sweep *order : {&value.sweep, &plan.stores})
        for (unsigned padded = 0; padded < plan.box.size(); ++padded)
          for (int64_t pad = 0; pad < (plan.box[padded] == 1 ? 1 : kMostPads); ++pad) {
            setSteps(value, *order, padded, pad);
            if (tryPlacement(1, 0))
              return;
            SmallVector<int64_t> periods = {4, 8, 16, 32};
            for (auto [extent, step] : llvm::zip_equal(plan.box, value.steps))
              if (extent > kBanks)
                periods.push_back(kBanks * step);
            for (int64_t period : periods)
              for (int64_t skew : {1, 2, 4})
                if (pad < kMostSkewedPads && tryPlacement(period, skew))
                  return;
          }
    };
    tryAll();
    value = best;
  }

  /// Gives consecutive elements in `order` consecutive slots, but leaves out `pad` slots after the
  /// iterations of loop `padded`.
  void setSteps(BoxPlan::Gathered &value, const BoxPlan::Sweep &order, unsigned padded,
                int64_t pad) {
    value.steps.assign(plan.box.size(), 0);
    int64_t step = 1;
    for (unsigned loop : llvm::reverse(order.order)) {
      value.steps[loop] = step;
      step = step * plan.box[loop] + (loop == padded ? pad : 0);
    }
  }

  const KernelGraph &graph;
  const LoopGroup::Stage &stage;
  BoxPlan plan;
  std::optional<BoxPlan> best;
  double least = 0; // passes of `best` over the fewest
  ElementBytes ofResults;
  SmallVector<ElementBytes> ofOperands; // per gathered value
};
} // namespace

std::optional<BoxPlan> dpc::planBoxes(const KernelGraph &graph, const LoopGroup::Stage &stage) {
  return Planner(graph, stage).run();
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static llvm::Error verifySweep(const BoxPlan &plan, const BoxPlan::Sweep &sweep) {
  SmallVector<unsigned> sorted(sweep.order);
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<unsigned>(0, plan.box.size())) ||
      sweep.outer >= sweep.order.size())
    return planError("a sweep over {0} loops has {1}, {2} of them outside", plan.box.size(),
                     sweep.order.size(), sweep.outer);
  for (unsigned loop : llvm::drop_begin(sweep.order, sweep.outer + 1))
    if (plan.box[loop] != plan.extents[loop])
      return planError("a run goes on after {0} of {1} iterations", plan.box[loop],
                       plan.extents[loop]);
  if (sweep.lanes < 1 || plan.getRun(sweep) % sweep.lanes != 0 ||
      plan.getWholeRun(sweep) % sweep.lanes != 0)
    return planError("pieces of {0} do not fill runs of {1} of {2} elements", sweep.lanes,
                     plan.getRun(sweep), plan.getWholeRun(sweep));
  return llvm::Error::success();
}

llvm::Error BoxPlan::verify(const LoopGroup::Stage &stage) const {
  if (ArrayRef(extents) != ArrayRef(stage.nest.extents) || box.size() != extents.size() ||
      gathered.empty())
    return planError("boxes of {0} loops gather {1} values", box.size(), gathered.size());
  for (auto [own, extent] : llvm::zip_equal(box, extents))
    if (own < 1 || own > extent)
      return planError("a box has {0} of {1} iterations", own, extent);
  if (llvm::Error error = verifySweep(*this, stores))
    return error;
  if (!llvm::equal(stores.order, llvm::seq<unsigned>(0, box.size())))
    return planError("results are not stored in their order");
  for (const Gathered &value : gathered) {
    const auto strides = stridesOf(value.op, extents);
    if (!strides || *strides != value.strides)
      return planError("a gathered value has not the strides of its transposition");
    if (llvm::Error error = verifySweep(*this, value.sweep))
      return error;
    int64_t next = 1; // the stride of the next loop of a run
    for (unsigned loop :
         llvm::reverse(llvm::drop_begin(ArrayRef(value.sweep.order), value.sweep.outer))) {
      if (extents[loop] > 1 && value.strides[loop] != next)
        return planError("a run has neighbours at a distance of {0}", value.strides[loop]);
      next *= extents[loop];
    }
    llvm::DenseSet<int64_t> slots;
    for (int64_t piece = 0; piece < countPieces(value.sweep); ++piece)
      for (int64_t n = 0; n < value.sweep.lanes; ++n)
        if (!slots.insert(value.slotOf(locate(value.sweep, piece, n))).second)
          return planError("two elements of a box have one slot");
  }
  if (getSharedBytes() > kSharedBytes)
    return planError("boxes have {0} bytes of shared memory", getSharedBytes());
  return llvm::Error::success();
}

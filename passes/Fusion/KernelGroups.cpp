// Divides ops greedily into convex groups. An op joins a group that computes one of the op's
// operands if the loops of the group can compute the op, and if this closes no cycle among groups.
// Most fusion passes test for such cycles (after Kennedy & McKinley, "Maximizing Loop Parallelism
// and Improving Data Locality via Loop Fusion and Distribution", 1993). Each group keeps the set of
// all groups that must run before it, so that the test is cheap.

#include "passes/Fusion/KernelGroups.h"

#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Elementwise.h"
#include "dialects/NN/IR/Shape.h"
#include "planning/KernelClass.h"
#include "targets/Target.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <queue>

using namespace mlir;
using namespace dpc;

bool KernelGroups::isTiled(Operation *op) const { return target.getForm(op) == OpForm::tiles; }

/// Whether an op that joins no group may begin a group. Elementwise ops over the shape of its first
/// result may then join this group. If `op` is computed element by element, the loops of those ops
/// compute it. If `op` is computed in tiles, those ops read each tile as soon as the tile is final.
/// A composite op is emitted as its decomposition, so ops may join it as they would join its last
/// core op.
bool KernelGroups::mayBegin(Operation *op) const {
  OpForm form = target.getForm(op);
  return op->getNumResults() > 0 &&
         (form == OpForm::elements || form == OpForm::tiles || form == OpForm::composite);
}

/// Whether `op` pads its operand, and the kernel that computes the operand can store the padded
/// result. The kernel then computes an element of the operand if it is needed, and does not store
/// the operand.
bool KernelGroups::joinsOperand(Operation *op) const {
  return isa<nn::PadOp>(op) && target.padsComputedValues();
}

/// Whether a tensor of shape `shape` has one element for each row of a tensor of shape `whole`,
/// e.g. [8] for [8, 4].
static bool isRowShape(ArrayRef<int64_t> shape, ArrayRef<int64_t> whole) {
  return !shape.empty() && shape.size() < whole.size() && shape == whole.take_front(shape.size());
}

/// Whether the reduction `op` has one result element per row. This element is final as soon as the
/// loop over the row ends.
static bool isRowReduction(Operation *op) {
  ArrayRef<int64_t> kept = nn::typeOf(op->getResult(0)).getShape();
  return isRowShape(kept, nn::typeOf(op->getOperand(0)).getShape()) &&
         cast<FusableOpInterface>(op).getReducedDims().front() == int64_t(kept.size());
}

/// Returns the shape over which the loops of a unit (a group of ops, KernelGroups.h) run if the
/// unit begins with `op`. `shape` is the shape of the result of `op`.
static ArrayRef<int64_t> wholeShape(Operation *op, ArrayRef<int64_t> shape) {
  ArrayRef<int64_t> whole = shape;
  if (isa<DecomposableOpInterface>(op))
    for (Value operand : op->getOperands())
      if (isRowShape(whole, nn::typeOf(operand).getShape()))
        whole = nn::typeOf(operand).getShape();
  return whole;
}

/// Whether `op` is emitted as its decomposition, which computes each row of its results from the
/// same row of its first operand and from one element of each other operand. Examples are a layer
/// normalization and a cross-entropy. The loops over the rows of the ops before it can then compute
/// it.
static bool isRowComposite(Operation *op, const Target &target) {
  if (target.getForm(op) != OpForm::composite || op->getNumOperands() == 0)
    return false;
  ArrayRef<int64_t> whole = nn::typeOf(op->getOperand(0)).getShape();
  auto isRow = [&](Value value) { return isRowShape(nn::typeOf(value).getShape(), whole); };
  return llvm::all_of(llvm::drop_begin(op->getOperands()), isRow) &&
         llvm::any_of(op->getResults(), isRow) && llvm::all_of(op->getResults(), [&](Value result) {
           return isRow(result) || nn::typeOf(result).getShape() == whole;
         });
}

/// Whether an element of a result of `op` needs many elements of an operand, as that of a product
/// or of a pooling does. Loops that pass over a row several times, such as those of a
/// cross-entropy, would read them in each pass.
static bool readsManyElements(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  return cost && cost.getKernelClass() > KernelClass::indexing;
}

KernelGroups::KernelGroups(Block &block, const Target &target, const CodeOptions &code,
                           int64_t maxOps)
    : block(block), target(target), code(code), maxOps(maxOps) {
  int64_t count = 0;
  for (Operation &op : block)
    position[&op] = count++;
  for (Operation &op : block.without_terminator())
    if (getFusionKind(&op) != FusionKind::repeated || needsMemory(&op))
      place(&op);
  joinSums();
}

/// Whether a view, or an op outside of kernels, reads a result of `op`. The result must then be in
/// a buffer.
bool KernelGroups::needsMemory(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    FusionKind kind = getFusionKind(user);
    return kind == FusionKind::view || kind == FusionKind::outside;
  });
}

SmallVector<KernelGroups::Source> KernelGroups::sourcesOf(Operation *op) const {
  SmallVector<Source> sources;
  for (Value operand : op->getOperands())
    addSources(operand, Reach::direct, 0, sources);
  // If the regions of an op read values of this block, these values count as operands of the op.
  for (Region &region : op->getRegions())
    region.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (operand.getParentBlock() == &block)
          addSources(operand, Reach::direct, 0, sources);
    });
  return sources;
}

void KernelGroups::addSources(Value value, Reach reach, int64_t firstRowDim,
                              SmallVector<Source> &sources) const {
  Operation *op = value.getDefiningOp();
  auto unit = unitOf.find(op);
  bool here = op && unit != unitOf.end();
  if (op && !here && op->getBlock() == &block && getFusionKind(op) == FusionKind::repeated) {
    std::optional<int64_t> first = cast<FusableOpInterface>(op).getFirstRowDim();
    if (!first || reach == Reach::indirect) {
      reach = Reach::indirect;
    } else {
      reach = Reach::row;
      firstRowDim += *first;
    }
    for (Value operand : op->getOperands())
      addSources(operand, reach, firstRowDim, sources);
    return;
  }
  sources.push_back({value, here ? int(unit->second) : -1, reach, firstRowDim});
}

/// Whether a row of the loops of `unit` reads only its own row of the value of `source`.
bool KernelGroups::isInRow(const Unit &unit, const Source &source) {
  return source.reach == Reach::direct ||
         (source.reach == Reach::row && source.firstRowDim == unit.firstRowDim);
}

/// Whether the result of `reduction` for a row of the loops of `unit` is final after this row.
bool KernelGroups::isFinalPerRow(const Unit &unit, Operation *reduction) const {
  if (unit.tiled)
    return false;
  return unit.firstRowDim ? target.sharesSplitRows(reduction) : isRowReduction(reduction);
}

void KernelGroups::place(Operation *op) {
  SmallVector<Source> sources = sourcesOf(op);
  if (!isMemoryEffectFree(op)) {
    if (lastEffect)
      sources.push_back({Value(), int(unitOf.lookup(lastEffect)), Reach::indirect});
    lastEffect = op;
  }
  FusionKind kind = getFusionKind(op);
  const bool pads = joinsOperand(op);
  ArrayRef<int64_t> shape;
  if (kind == FusionKind::elementwise)
    shape = nn::typeOf(op->getResult(0)).getShape();
  else if (kind == FusionKind::reduction || pads)
    shape = nn::typeOf(op->getOperand(0)).getShape();
  bool begins = kind == FusionKind::alone && mayBegin(op);
  const bool hasRows = begins && isRowComposite(op, target);
  if (hasRows)
    shape = nn::typeOf(op->getOperand(0)).getShape();
  bool joins = kind == FusionKind::elementwise || kind == FusionKind::reduction || pads || hasRows;

  // Before `op` joins a group, merge the groups of all operands that it may join. Afterwards the
  // groups could not be merged, because `op` would belong to one group and depend on the other.
  std::optional<unsigned> home;
  if (joins)
    for (unsigned i = 0; i < sources.size(); ++i) {
      int unit = sources[i].unit;
      if (unit < 0 || (home && int(*home) == unit) ||
          !hasPlace(units[unit], kind, shape, sources[i]) || !mayJoin(unit, sources) ||
          waitsLong(unit, sources) || endsCall(units[unit], op) || (pads && units[unit].tiled) ||
          (hasRows && (!isPlain(units[unit]) || units[unit].firstRowDim ||
                       llvm::any_of(units[unit].ops, readsManyElements))))
        continue;
      if (!home) {
        home = unit;
      } else if (mayMerge(*home, unit)) {
        merge(*home, unit);
        for (Source &other : sources)
          if (other.unit == unit)
            other.unit = *home;
      }
    }
  if (home)
    return join(*home, op, sources);
  if (begins)
    shape = nn::typeOf(op->getResult(0)).getShape();
  units.emplace_back();
  units.back().shape.assign(shape.begin(), shape.end());
  ArrayRef<int64_t> whole = begins ? wholeShape(op, shape) : shape;
  units.back().whole.assign(whole.begin(), whole.end());
  units.back().open = joins || begins;
  units.back().tiled = begins && isTiled(op);
  join(units.size() - 1, op, sources);
}

/// Whether the loops of `unit` can compute an op over the shape `shape` that reads a result of the
/// unit.
bool KernelGroups::hasPlace(const Unit &unit, FusionKind kind, ArrayRef<int64_t> shape,
                            const Source &source) const {
  if (!unit.open)
    return false;
  ArrayRef<int64_t> whole = unit.whole;
  if (source.reach == Reach::direct && shape == ArrayRef<int64_t>(unit.shape))
    return true;
  bool isRow = unit.firstRowDim ? shape == whole.slice(unit.firstRowDim, unit.rowDims)
                                : isRowShape(shape, whole);
  return !unit.tiled && isInRow(unit, source) &&
         (shape == whole || (kind == FusionKind::elementwise && isRow));
}

/// Whether an op with the sources `sources` would delay a tiled product if it joined the product's
/// unit. The op may need a unit that comes after the product, and the joined unit would have to
/// wait for that unit. The operands of the product would then stay in memory longer. This is bad if
/// the operands have more bytes than the result.
bool KernelGroups::waitsLong(unsigned unit, ArrayRef<Source> sources) const {
  if (!units[unit].tiled || llvm::none_of(sources, [&](const Source &source) {
        return source.unit > int(unit) && !units[source.unit].ops.empty();
      }))
    return false;
  Operation *product = units[unit].ops.front();
  double read = 0;
  for (Value operand : product->getOperands())
    read += tensorBytes(operand.getType());
  return read > tensorBytes(product->getResult(0).getType());
}

/// Whether `value` repeats a vector, as a bias, and may be widened.
static bool isRepeatedVector(Value value) {
  if (auto widening = value.getDefiningOp<nn::ConvertOp>())
    value = widening.getInput();
  auto broadcast = value.getDefiningOp<nn::BroadcastOp>();
  return broadcast && !broadcast.getDimensions().empty();
}

/// Whether a library computes the tiled op of `unit`, and cannot compute `op` too. It may add one
/// bias or matrix, and round the sum. Everything else costs a launch in any case. In a unit of its
/// own, it may share the launch with ops that cannot join a tiled unit, such as a layer
/// normalization or its gradient.
bool KernelGroups::endsCall(const Unit &unit, Operation *op) const {
  if (!unit.tiled)
    return false;
  Operation *tiled = *llvm::find_if(unit.ops, [&](Operation *other) { return isTiled(other); });
  const LibraryWork work = target.getLibraryWork(tiled, code);
  if (work != LibraryWork::addition)
    return work == LibraryWork::op;
  auto isAddition = [](Operation *other) { return isa<nn::AddOp>(other); };
  const bool isAddend =
      llvm::any_of(op->getOperands(), isRepeatedVector) ||
      getElementTypeOrSelf(op->getResult(0)) == getElementTypeOrSelf(tiled->getResult(0));
  return !isa<nn::ConvertOp>(op) &&
         !(isAddition(op) && isAddend && llvm::none_of(unit.ops, isAddition));
}

bool KernelGroups::mayJoin(unsigned unit, ArrayRef<Source> sources) const {
  if (int64_t(units[unit].ops.size()) >= maxOps)
    return false;
  for (const Source &source : sources) {
    if (source.unit < 0)
      continue;
    if (source.unit == int(unit)) {
      // The result of a reduction in this group is complete only after the loops of the group. But
      // if the reduction reduces rows, the result for a row is complete after that row, so the same
      // loops can read it.
      Operation *maker = source.value.getDefiningOp();
      if (!isInRow(units[unit], source) ||
          (getFusionKind(maker) == FusionKind::reduction && !isFinalPerRow(units[unit], maker)))
        return false;
      continue;
    }
    if (units[source.unit].before.size() > unit && units[source.unit].before.test(unit))
      return false;
  }
  return true;
}

/// Adds the units that must run before `unit` to the set `before` of each unit that must run after
/// `unit`.
void KernelGroups::spread(unsigned unit) {
  for (auto [index, other] : llvm::enumerate(units)) {
    if (index == unit || other.before.size() <= unit || !other.before.test(unit))
      continue;
    other.before |= units[unit].before;
  }
}

/// Whether no op of `unit` needs rows: all results have the shape of the loops.
bool KernelGroups::isPlain(const Unit &unit) {
  return !unit.tiled && llvm::all_of(unit.ops, [&](Operation *op) {
    return llvm::all_of(op->getResultTypes(), [&](Type type) {
      return cast<RankedTensorType>(type).getShape() == ArrayRef<int64_t>(unit.whole);
    });
  });
}

/// Gives `unit` split rows if `op`, which joins it, is the first op that needs rows, and is a
/// reduction with split rows.
void KernelGroups::setRows(Unit &unit, Operation *op) const {
  if (getFusionKind(op) != FusionKind::reduction || !isPlain(unit) || !target.sharesSplitRows(op))
    return;
  unit.rowDims = nn::typeOf(op->getResult(0)).getRank();
  for (int64_t reduced : cast<FusableOpInterface>(op).getReducedDims())
    if (reduced == unit.firstRowDim)
      ++unit.firstRowDim;
}

void KernelGroups::join(unsigned unit, Operation *op, ArrayRef<Source> sources) {
  setRows(units[unit], op);
  units[unit].ops.push_back(op);
  unitOf[op] = unit;
  llvm::BitVector &before = units[unit].before;
  for (const Source &source : sources) {
    if (source.unit < 0 || source.unit == int(unit))
      continue;
    before |= units[source.unit].before;
    if (before.size() <= unsigned(source.unit))
      before.resize(source.unit + 1);
    before.set(source.unit);
  }
  spread(unit);
}

bool KernelGroups::mayMerge(unsigned a, unsigned b) const {
  auto comesBefore = [&](unsigned x, unsigned y) {
    return units[y].before.size() > x && units[y].before.test(x);
  };
  if (units[a].firstRowDim != units[b].firstRowDim && !isPlain(units[a]) && !isPlain(units[b]))
    return false;
  ArrayRef<int64_t> wholeA = units[a].whole, wholeB = units[b].whole;
  if (wholeA != wholeB && (units[a].tiled || units[b].tiled ||
                           !(isRowShape(wholeA, wholeB) || isRowShape(wholeB, wholeA))))
    return false;
  return int64_t(units[a].ops.size() + units[b].ops.size()) < maxOps &&
         !(units[a].tiled && units[b].tiled) && !comesBefore(a, b) && !comesBefore(b, a);
}

void KernelGroups::merge(unsigned into, unsigned from) {
  for (Operation *op : units[from].ops)
    unitOf[op] = into;
  llvm::append_range(units[into].ops, units[from].ops);
  llvm::sort(units[into].ops,
             [&](Operation *a, Operation *b) { return position.lookup(a) < position.lookup(b); });
  units[into].before |= units[from].before;
  units[into].tiled |= units[from].tiled;
  if (units[from].firstRowDim) {
    units[into].firstRowDim = units[from].firstRowDim;
    units[into].rowDims = units[from].rowDims;
  }
  if (units[from].whole.size() > units[into].whole.size())
    units[into].whole = units[from].whole;
  if (units[from].shape.size() > units[into].shape.size())
    units[into].shape = units[from].shape;
  units[from].before.clear();
  units[from].ops.clear();
  units[from].open = false;
  for (Unit &other : units)
    if (other.before.size() > from && other.before.test(from)) {
      other.before.reset(from);
      if (other.before.size() <= into)
        other.before.resize(into + 1);
      other.before.set(into);
    }
  spread(into);
}

/// Whether `unit` computes only sums over columns (Target::sumsColumns), and their terms.
bool KernelGroups::onlySumsColumns(const Unit &unit) const {
  auto isSum = [&](Operation *op) { return target.sumsColumns(op); };
  return llvm::any_of(unit.ops, isSum) && llvm::all_of(unit.ops, [&](Operation *op) {
           return getFusionKind(op) == FusionKind::elementwise
                      ? nn::typeOf(op->getResult(0)).getShape() == ArrayRef<int64_t>(unit.whole)
                      : isSum(op);
         });
}

/// The values that `unit` reads from memory, and that have an element for each iteration of its
/// loops.
SmallVector<Value> KernelGroups::largeReads(unsigned unit) const {
  SmallVector<Value> reads;
  for (Operation *op : units[unit].ops)
    for (const Source &source : sourcesOf(op))
      if (source.value && source.unit != int(unit) &&
          nn::typeOf(source.value).getShape() == ArrayRef<int64_t>(units[unit].whole))
        reads.push_back(source.value);
  return reads;
}

/// The first unit whose loops have all that the sums of `unit` need: they run over the same shape,
/// and compute or read every value that `unit` reads.
std::optional<unsigned> KernelGroups::hostOfSums(unsigned unit) const {
  const SmallVector<Value> reads = largeReads(unit);
  std::optional<unsigned> best;
  if (reads.empty())
    return best;
  for (Operation *user : reads.front().getUsers()) {
    auto found = unitOf.find(user);
    if (found == unitOf.end() || found->second == unit || (best && *best <= found->second))
      continue;
    const Unit &host = units[found->second];
    if (host.tiled || !host.open || host.whole != units[unit].whole || onlySumsColumns(host) ||
        !mayMerge(found->second, unit))
      continue;
    const SmallVector<Value> known = largeReads(found->second);
    if (llvm::all_of(reads, [&](Value value) {
          auto maker = unitOf.find(value.getDefiningOp());
          return llvm::is_contained(known, value) ||
                 (maker != unitOf.end() && maker->second == found->second);
        }))
      best = found->second;
  }
  return best;
}

/// Lets loops that read the terms of sums over columns add them up too. A sum and the loops have no
/// value in common that one of them computes, so they did not become one unit before.
void KernelGroups::joinSums() {
  for (unsigned unit = 0; unit < units.size(); ++unit)
    if (onlySumsColumns(units[unit]))
      if (std::optional<unsigned> host = hostOfSums(unit))
        merge(*host, unit);
}

std::vector<const KernelGroups::Unit *> KernelGroups::inOrder() const {
  // The order of the last ops alone is not enough: in the program, the last op of a unit can come
  // after the last op of another unit that needs it. Therefore this is a topological order. Among
  // the units that are ready, the unit with the earliest last op goes first.
  auto key = [&](unsigned unit) {
    return std::make_pair(-position.lookup(units[unit].ops.back()), -int64_t(unit));
  };
  std::priority_queue<std::pair<std::pair<int64_t, int64_t>, unsigned>> ready;
  // A unit waits for one predecessor at a time: the predecessor with the highest index that is not
  // yet in the order. A counter of all predecessors per unit would take quadratic time, because a
  // long chain of units has a quadratic number of such pairs.
  std::vector<std::vector<unsigned>> waiting(units.size());
  llvm::BitVector open(units.size(), true);
  auto enter = [&](unsigned unit) {
    llvm::BitVector missing = units[unit].before;
    missing &= open;
    if (int last = missing.find_last(); last >= 0)
      waiting[last].push_back(unit);
    else
      ready.push({key(unit), unit});
  };
  for (auto [index, unit] : llvm::enumerate(units))
    if (!unit.ops.empty())
      enter(unsigned(index));
  std::vector<const Unit *> order;
  while (!ready.empty()) {
    unsigned next = ready.top().second;
    ready.pop();
    order.push_back(&units[next]);
    open.reset(next);
    for (unsigned unit : waiting[next])
      enter(unit);
  }
  return order;
}

// Derives the layout of every value from a plan of the axes that cut each atom, and prices the
// reshards that the plan needs.

#include "passes/Sharding/Search/Placement.h"

#include "passes/Sharding/Search/LoopCuts.h"

#include "dialects/Interfaces/CurrentWork.h"
#include "dialects/NN/IR/Conversions.h"
#include "dialects/NN/IR/NNDialect.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// Whether `op` updates state, or is a conversion whose result only updates read.
static bool isForUpdates(Operation *op) {
  return updatesState(op) ||
         (nn::isConversion(op) && nn::isReadOnlyBy(op->getResult(0), updatesState));
}

Assignment::Assignment(const ProgramLoops &program, const AxisPlan &plan, PlacementCache &cache)
    : program(program), cache(cache), cuts(program.getAtomCount()) {
  for (const auto &[atom, axes] : plan)
    cuts[atom] = cache.getCuts(axes);
}

/// Returns the number of ops that have the rarest cut atom of `dim`: of the atoms of `dim` that
/// the plan cuts, the one that the fewest ops have.
unsigned Assignment::countOps(const AtomDim &dim) const {
  unsigned ops = ~0u;
  for (const auto &segment : dim)
    for (unsigned atom : segment)
      if (cuts[atom])
        ops = std::min(ops, program.getOpCount(atom));
  return ops;
}

DimLayout Assignment::layOutByAtoms(Value value, unsigned dim) const {
  return layOut(
      program.getDim(value, dim), [&](unsigned atom) { return program.getSize(atom); },
      [&](unsigned atom) { return cache.getAxes(cuts[atom]); }, cache.mesh);
}

/// Keeps each sequential axis in one dimension only. This is the dimension that the axis cuts
/// in `made`. If `made` is null or the axis cuts nothing there, the axis stays in the first
/// dimension of `layout` that it cuts.
static void keepSequentialOnce(Layout &layout, const Layout *made, const MeshShape &mesh) {
  for (const MeshAxis &axis : mesh.axes) {
    if (!axis.sequential)
      continue;
    auto isCut = [&](const DimLayout &dim) {
      return llvm::is_contained(shardedAxes(dim), axis.name);
    };
    auto own = llvm::find_if(layout.dims, isCut);
    if (own == layout.dims.end())
      continue;
    size_t kept = own - layout.dims.begin();
    if (made)
      if (auto other = llvm::find_if(made->dims, isCut); other != made->dims.end())
        kept = other - made->dims.begin();
    for (auto [d, dim] : llvm::enumerate(layout.dims))
      if (d != kept)
        dropAxes(dim, axis.name);
  }
}

Layout Assignment::getRequested(const LayoutRequest &request, const Layout *made) const {
  Layout layout = Layout::replicated(nn::typeOf(request.value).getShape());
  for (auto [d, wanted] : llvm::enumerate(request.dims)) {
    DimLayout dim = layOutByAtoms(request.value, d);
    AxisNames others = shardedAxes(dim), missing = wanted;
    llvm::erase_if(others, [&](StringRef axis) {
      return llvm::is_contained(wanted, axis) ||
             cache.mesh.axes[*cache.mesh.axisIndex(axis)].sequential;
    });
    dropAxes(dim, others);
    llvm::erase_if(missing, [&, here = shardedAxes(dim)](StringRef axis) {
      return cache.mesh.axisSize(axis) == 1 || llvm::is_contained(here, axis);
    });
    if (!missing.empty())
      cutPlainly(dim, missing, cache.mesh);
    layout.dims[d] = std::move(dim);
  }
  keepSequentialOnce(layout, made, cache.mesh);
  return normalize(layout);
}

// If an axis could cut two dimensions, it cuts the dimension that fewer ops have. For a weight,
// this is the dimension of the heads or the inner dimension, and not the dimension that runs
// through all layers. The ops that read the weight cut this dimension too.
Layout Assignment::getNatural(Value value) const {
  const int64_t rank = nn::typeOf(value).getRank();
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  llvm::stable_sort(order, [&](int64_t a, int64_t b) {
    return countOps(program.getDim(value, a)) < countOps(program.getDim(value, b));
  });
  Layout layout = Layout::replicated(nn::typeOf(value).getShape());
  SmallVector<std::string> used;
  for (int64_t d : order) {
    if (nn::typeOf(value).getDimSize(d) <= 1)
      continue;
    DimLayout dim = layOutByAtoms(value, d);
    dropAxes(dim, used);
    llvm::append_range(used, shardedAxes(dim));
    layout.dims[d] = std::move(dim);
  }
  return normalize(layout);
}

SmallVector<const Layout *, 2> Assignment::getReads(Value value) const {
  SmallVector<const Layout *, 2> list;
  for (unsigned layout : cache.getSet(reads[program.getNumber(value)]))
    list.push_back(&cache.layouts[layout]);
  return list;
}

static std::vector<Layout> lookUp(const LayoutTable &table, ArrayRef<unsigned> numbers) {
  std::vector<Layout> layouts;
  for (unsigned number : numbers)
    layouts.push_back(table[number]);
  return layouts;
}

std::vector<Layout> Assignment::getOperands(unsigned op) const {
  return lookUp(cache.layouts,
                cache.getLayouts(placements[op]).take_front(program.getOps()[op].operands.size()));
}

std::vector<Layout> Assignment::getResults(unsigned op) const {
  return lookUp(cache.layouts,
                cache.getLayouts(placements[op]).drop_front(program.getOps()[op].operands.size()));
}

PlacementCache::Key Assignment::getKey(const OpLoops &op) const {
  PlacementCache::Key key = {op.kind};
  for (unsigned operand : op.operands) {
    key.push_back(layouts[operand]);
    key.push_back(3 * reads[operand] + unsigned(sumsOf(operand)));
  }
  for (unsigned result : op.results)
    key.push_back(wanted[result]);
  for (unsigned atom : op.atoms)
    key.push_back(cuts[atom]);
  return key;
}

unsigned Assignment::place(const OpLoops &op, const PlacementCache::Key &key) {
  return cache.getPlacement(key, [&] {
    OpSituation situation{op, {}, {}, {}};
    for (unsigned operand : op.operands) {
      situation.operands.push_back({&cache.layouts[layouts[operand]], {}, sumsOf(operand)});
      for (unsigned layout : cache.getSet(reads[operand]))
        situation.operands.back().made.push_back(&cache.layouts[layout]);
    }
    for (unsigned result : op.results)
      situation.wanted.push_back(wanted[result] ? &cache.layouts[wanted[result] - 1] : nullptr);
    for (unsigned atom : op.atoms)
      situation.cuts.push_back(cache.getAxes(cuts[atom]));
    return situation;
  });
}

/// Returns the number of the layout in which the readers find `value`. This is `layout`, in which
/// the value is made, unless a request asks for another layout. In that case, adds the cost of the
/// reshard.
unsigned Assignment::bring(unsigned value, unsigned layout) {
  const LayoutRequest *request = brought.lookup(value);
  if (!request)
    return layout;
  const unsigned wanted = cache.layouts.getNumber(getRequested(*request, &cache.layouts[layout]));
  if (cache.layouts.isSame(layout, wanted))
    return layout;
  const Price &cost =
      cache.prices.getCost(layout, wanted, tensorBytes(program.getValues()[value].getType()));
  moving.bytes += cost.bytes;
  moving.seconds += cost.seconds;
  return wanted;
}

Price Assignment::read(unsigned value, unsigned layout) {
  const ArrayRef<unsigned> made = cache.getSet(reads[value]);
  if (cache.layouts.isSame(layouts[value], layout) ||
      llvm::any_of(made, [&](unsigned other) { return cache.layouts.isSame(other, layout); }))
    return {};
  const int64_t bytes = tensorBytes(program.getValues()[value].getType());
  Price least = cache.prices.getCost(layouts[value], layout, bytes);
  for (unsigned other : made)
    if (Price cost = cache.prices.getCost(other, layout, bytes); cost.seconds < least.seconds)
      least = cost;
  reads[value] = cache.insert(reads[value], layout);
  return least;
}

void Assignment::finish(ArrayRef<Returned> returned) {
  for (const Returned &result : returned) {
    const unsigned value = program.getNumber(result.value);
    const Layout &own = cache.layouts[layouts[value]];
    unsigned to = 0;
    if (result.carrier) {
      to = layouts[program.getNumber(result.carrier)];
    } else if (result.isOutput) {
      Layout whole = own;
      whole.partial.clear();
      to = cache.layouts.getNumber(whole);
    } else {
      to = cache.layouts.getNumber(normalize(Layout::replicated(own.shape())));
    }
    const Price cost = read(value, to);
    moving.bytes += cost.bytes;
    moving.seconds += cost.seconds;
  }
}

void Assignment::findWanted(ArrayRef<Returned> returned) {
  wanted.assign(program.getValues().size(), 0);
  for (const Returned &result : returned)
    if (result.carrier)
      wanted[program.getNumber(result.value)] = layouts[program.getNumber(result.carrier)] + 1;
  for (const auto &[value, request] : brought)
    wanted[value] = cache.layouts.getNumber(getRequested(*request)) + 1;
}

void Assignment::layOutArguments(LayoutOfArgument layoutOf) {
  layouts.assign(program.getValues().size(), 0);
  for (auto [number, value] : llvm::enumerate(program.getValues())) {
    if (!isa<BlockArgument>(value))
      break;
    PlacementCache::Key key = {static_cast<unsigned>(number)};
    for (int64_t d = 0; d < nn::typeOf(value).getRank(); ++d)
      for (const auto &segment : program.getDim(value, d))
        for (unsigned atom : segment)
          key.push_back(cuts[atom]);
    layouts[number] = cache.getArgument(key, [&, number = number] { return layoutOf(number); });
  }
}

void Assignment::run(LayoutOfArgument layoutOf, ArrayRef<Returned> returned) {
  layOutArguments(layoutOf);
  findWanted(returned);
  reducedFirst.resize(program.getValues().size());
  reducedLast.resize(program.getValues().size());
  walk(returned, /*round=*/0);
  reducedFirst = findReducedFirst();
  reducedLast = findReducedLast(returned);
  if (reducedFirst.any() || reducedLast.any())
    walk(returned, /*round=*/1);
}

void Assignment::visit(const OpLoops &op, PlacementCache::Visit &visit) {
  CurrentWork work(op.op->getLoc(), op.op->getName().getStringRef());
  visit.placement = place(op, visit.met);
  visit.reads.clear();
  visit.moved = {};
  const ArrayRef<unsigned> own = cache.getLayouts(visit.placement);
  const double exposed = isForUpdates(op.op) ? kExposedOfGradients : 1;
  for (auto [index, value] : llvm::enumerate(op.operands)) {
    const Price cost = read(value, own[index]);
    visit.moved.bytes += cost.bytes;
    visit.moved.seconds += exposed * cost.seconds;
  }
  for (unsigned value : op.operands)
    visit.reads.push_back(reads[value]);
}

void Assignment::walk(ArrayRef<Returned> returned, unsigned round) {
  reads.assign(program.getValues().size(), 0);
  placements.clear();
  computing = dividedComputing = 0;
  moving = {};
  for (auto [number, op] : llvm::enumerate(program.getOps())) {
    PlacementCache::Visit &last = cache.getVisit(round, number);
    if (PlacementCache::Key met = getKey(op); met != last.met) {
      last.met = std::move(met);
      visit(op, last);
    } else {
      for (auto [value, set] : llvm::zip_equal(op.operands, last.reads))
        reads[value] = set;
    }
    placements.push_back(last.placement);
    moving.bytes += last.moved.bytes;
    moving.seconds += last.moved.seconds;
    const ArrayRef<unsigned> own = cache.getLayouts(last.placement);
    for (auto [index, value] : llvm::enumerate(op.results))
      layouts[value] = bring(value, own[op.operands.size() + index]);
    computing += cache.getSeconds(last.placement);
    dividedComputing += cache.getDividedSeconds(last.placement);
  }
  finish(returned);
}

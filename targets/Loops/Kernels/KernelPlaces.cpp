// Plans where the values of a kernel are in memory, and allocates its scratch
// memory.

#include "targets/Loops/Kernels/KernelPlaces.h"

#include "dialects/NN/IR/Shape.h"
#include "targets/Loops/LoopEmitter.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

ScratchPiece ScratchAllocator::allocate(int64_t bytes, unsigned lastGroup) {
  int64_t size = llvm::alignTo(std::max<int64_t>(1, bytes), 64), offset = 0;
  auto at = pieces.begin();
  for (; at != pieces.end() && at->piece.offset - offset < size; ++at)
    offset = at->piece.offset + at->piece.bytes;
  pieces.insert(at, {{offset, size}, lastGroup});
  peak = std::max(peak, offset + size);
  return {offset, bytes};
}

void ScratchAllocator::startGroup(unsigned group) {
  llvm::erase_if(pieces, [&](const Owned &owned) { return owned.lastGroup < group; });
}

/// Whether all elements of a constant are equal. Such a constant needs no memory.
static bool isSplat(nn::ConstantOp constant) {
  auto dense = dyn_cast<DenseElementsAttr>(constant.getValue());
  return dense && dense.isSplat();
}

KernelPlaces::KernelPlaces(const KernelGraph &graph)
    : operands(graph.getBlock().getNumArguments()), results(graph.getYielded().size()) {
  auto add = [&](Value value, Place::Kind kind, int64_t number) {
    arguments.push_back({value, {kind, number}});
    places[value] = {kind, number};
  };
  Block &block = graph.getBlock();
  for (BlockArgument argument : block.getArguments())
    add(argument, Place::Kind::argument, argument.getArgNumber());
  int64_t tables = 0;
  for (auto constant : block.getOps<nn::ConstantOp>())
    if (!isSplat(constant))
      add(constant.getResult(), Place::Kind::table, tables++);
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (graph.isMaterialised(value) && resultOf.try_emplace(value, result).second)
      add(value, Place::Kind::argument, operands + static_cast<int64_t>(result));
}

Type KernelPlaces::storageType(Value value) {
  Type type = registerType(nn::typeOf(value).getElementType());
  if (type.isInteger(1))
    return IntegerType::get(value.getContext(), 8);
  return type;
}

bool KernelPlaces::isStoredIn(Value value, unsigned result) const {
  auto made = resultOf.find(value);
  return made != resultOf.end() && made->second == result;
}

const KernelPlaces::Place *KernelPlaces::find(Value value) const {
  auto place = places.find(value);
  return place == places.end() ? nullptr : &place->second;
}

bool KernelPlaces::isInMemory(Value value) const {
  const Place *place = find(value);
  return place && place->kind != Place::Kind::registers && !place->rowElements;
}

void KernelPlaces::placeInScratch(Value value, int64_t rowElements, unsigned lastGroup) {
  int64_t elements = rowElements ? rowElements : nn::typeOf(value).getNumElements();
  int64_t bytes = elements * storageType(value).getIntOrFloatBitWidth() / 8;
  places[value] = {Place::Kind::scratch, scratch.allocate(bytes, lastGroup).offset, rowElements};
}

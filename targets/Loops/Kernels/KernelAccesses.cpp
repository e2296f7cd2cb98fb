// Finds which results of a kernel may share the buffers of operands.

#include "targets/Loops/Kernels/KernelAccesses.h"

#include "dialects/NN/IR/Shape.h"
#include "targets/Loops/Kernels/RowIndex.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

/// Whether two numbers are the same. Rules write the number of an element in different ways.
static bool areSame(KernelAccesses::Index a, KernelAccesses::Index b) {
  return a == b || IndexSpace::flattened(a) == IndexSpace::flattened(b);
}

/// Whether `read` always happens before `write` if both access the same element.
/// `count` is the number of elements.
static bool isBefore(const IndexSpace &space, const KernelAccesses::Access &read,
                     const KernelAccesses::Access &write, int64_t count) {
  if (read.group != write.group)
    return read.group < write.group;
  if (read.part != write.part || read.filling || read.stage > write.stage)
    return false;
  if (read.stage == write.stage && areSame(read.number, write.number))
    return true;
  // The read is in an earlier stage, and its element is in the current row.
  return read.stage < write.stage && read.rows.count > 1 && read.rows.fit(count) &&
         RowIndex(space, read.rows, count).rowOf(read.number) == read.row;
}

bool KernelAccesses::mayAlias(const IndexSpace &space, Value result, BlockArgument operand) const {
  int64_t count = nn::typeOf(result).getNumElements();
  if (KernelPlaces::storageType(operand) != KernelPlaces::storageType(result) ||
      nn::typeOf(operand).getNumElements() != count)
    return false;
  for (const Access &read : reads.lookup(operand))
    for (const Access &write : writes.lookup(result))
      if (!isBefore(space, read, write, count))
        return false;
  return true;
}

SmallVector<SmallVector<unsigned>> KernelAccesses::findAliases(const IndexSpace &space,
                                                               const KernelGraph &graph,
                                                               const KernelPlaces &places) const {
  SmallVector<SmallVector<unsigned>> aliases(places.getResultCount());
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    for (BlockArgument argument : graph.getBlock().getArguments())
      if (places.isStoredIn(value, result) && mayAlias(space, value, argument))
        aliases[result].push_back(argument.getArgNumber());
  return aliases;
}

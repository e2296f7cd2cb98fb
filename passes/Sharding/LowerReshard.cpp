// Lowers one reshard to collectives, slices and reorderings on local shards.

#include "passes/Sharding/LowerReshard.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/NN/IR/Indexing.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;
using namespace dpc::nn;

static ArrayAttr axesAttr(OpBuilder &builder, ArrayRef<std::string> axes) {
  SmallVector<StringRef> names(axes.begin(), axes.end());
  return builder.getStrArrayAttr(names);
}

static ReductionKind kindOf(Reduction reduction) {
  return reduction == Reduction::Sum   ? ReductionKind::sum
         : reduction == Reduction::Max ? ReductionKind::max
                                       : ReductionKind::min;
}

/// Positions, in the shards of all members laid end to end, of the global
/// indices 0, 1, ... of `dim`.
static std::vector<int64_t> gatherOrder(const DimLayout &dim, ArrayRef<std::string> axes,
                                        const MeshShape &mesh) {
  std::vector<int64_t> order(dim.extent(), 0);
  int64_t members = 1, extent = localExtent(dim, mesh);
  for (const std::string &axis : axes)
    members *= mesh.axisSize(axis);
  for (int64_t member = 0; member < members; ++member) {
    SmallVector<int64_t> coordinates(mesh.axes.size(), 0);
    int64_t rest = member;
    for (const std::string &axis : llvm::reverse(axes)) {
      int64_t size = mesh.axisSize(axis);
      coordinates[*mesh.axisIndex(axis)] = rest % size;
      rest /= size;
    }
    std::vector<int64_t> indices = localIndices(dim, coordinates, mesh);
    for (int64_t i = 0; i < extent; ++i)
      if (indices[i] >= 0)
        order[indices[i]] = member * extent + i;
  }
  return order;
}

/// All of dimension `d` on every device.
static Value gatherDim(PartitionContext &context, FlatSymbolRefAttr meshName, Value local,
                       unsigned d, const DimLayout &dim) {
  Expressions e = context.expressions();
  const MeshShape &mesh = context.mesh;
  SmallVector<std::string> axes;
  for (const std::string &axis : shardedAxes(dim))
    if (!mesh.axes[*mesh.axisIndex(axis)].sequential)
      axes.push_back(axis);
  if (axes.empty())
    return local;
  SmallVector<int64_t> shape(typeOf(local).getShape());
  int64_t members = 1;
  for (const std::string &axis : axes)
    members *= mesh.axisSize(axis);
  SmallVector<int64_t> stacked = {members};
  llvm::append_range(stacked, shape);
  Value all = e.make<AllGatherOp>(withShape(typeOf(local), stacked), local, meshName,
                                  axesAttr(context.builder, axes));
  // Members move to just before the dimension, and merge with it.
  SmallVector<int64_t> permutation;
  for (unsigned i = 1; i <= shape.size(); ++i) {
    if (i == d + 1)
      permutation.push_back(0);
    permutation.push_back(i);
  }
  shape[d] *= members;
  all = e.reshape(e.transpose(all, permutation), shape);
  std::vector<int64_t> order = gatherOrder(dim, axes, mesh);
  if (int64_t(order.size()) == shape[d] && llvm::equal(order, llvm::seq<int64_t>(0, order.size())))
    return all;
  auto type = RankedTensorType::get({int64_t(order.size())}, context.builder.getI64Type());
  Value indices = context.builder.create<ConstantOp>(
      context.loc, type,
      cast<ElementsAttr>(DenseElementsAttr::get(type, ArrayRef<int64_t>(order))));
  return e.make<GatherOp>(all, indices, d);
}

Value dpc::lowerReshard(PartitionContext &context, FlatSymbolRefAttr mesh, Value local,
                        const Layout &from, const Layout &to) {
  Expressions e = context.expressions();
  // One all-reduce a kind of reduction, over all its axes.
  for (Reduction reduction : {Reduction::Sum, Reduction::Max, Reduction::Min}) {
    SmallVector<std::string> axes;
    for (const Partial &partial : from.partial)
      if (partial.reduction == reduction && !llvm::is_contained(to.partial, partial))
        axes.push_back(partial.axis);
    if (!axes.empty())
      local = e.make<AllReduceOp>(TypeRange(local.getType()), kindOf(reduction), local,
                                  mesh.getValue(), axesAttr(context.builder, axes));
  }
  // Everything is gathered before anything is cut: members of a gather must
  // hold the same part of the other dimensions.
  auto differs = [&](unsigned d) { return !sameIndices(from.dims[d], to.dims[d], context.mesh); };
  for (unsigned d = 0; d < from.dims.size(); ++d)
    if (differs(d))
      local = gatherDim(context, mesh, local, d, from.dims[d]);
  for (unsigned d = 0; d < from.dims.size(); ++d)
    if (differs(d) && !shardedAxes(to.dims[d]).empty())
      local = e.make<GatherOp>(local, context.globalIndices(to.dims[d]), d);
  return local;
}

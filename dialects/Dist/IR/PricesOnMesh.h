#ifndef DPC_DIALECTS_DIST_IR_PRICESONMESH_H
#define DPC_DIALECTS_DIST_IR_PRICESONMESH_H

#include "dialects/Dist/IR/MeshShape.h"
#include "planning/Prices.h"

namespace dpc::dist {

/// The prices between the ranks of `mesh`, whose sequential axes have no ranks. Needs: no more
/// ranks than devices of `machine`.
MeshPrices getMeshPrices(const Machine &machine, const MeshShape &mesh);

} // namespace dpc::dist

#endif // DPC_DIALECTS_DIST_IR_PRICESONMESH_H

#ifndef DPC_INTERPRETER_FLATSTATE_H
#define DPC_INTERPRETER_FLATSTATE_H

#include "dialects/Dist/IR/DistDialect.h"
#include "interpreter/Session.h"

namespace dpc {

/// What each device of `mesh`, by rank, holds of flat storage (#dist.storage) whose
/// argument has `type`: its shards of the members, which are logical tensors in
/// `state`, end to end, and of those its part where the storage is cut. Padding is zero.
/// Fails with the name of a member that `state` lacks.
mlir::FailureOr<std::vector<HostTensor>>
storeFlat(const TensorMap &state, dist::StorageAttr storage, mlir::RankedTensorType type,
          const dist::MeshShape &mesh, std::string &missing);

/// The other way: the members, in `state`, of what the devices hold.
void loadFlat(llvm::ArrayRef<HostTensor> held, dist::StorageAttr storage,
              const dist::MeshShape &mesh, TensorMap &state);

} // namespace dpc

#endif // DPC_INTERPRETER_FLATSTATE_H

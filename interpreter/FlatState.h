#ifndef DPC_INTERPRETER_FLATSTATE_H
#define DPC_INTERPRETER_FLATSTATE_H

#include "dialects/Dist/IR/DistDialect.h"
#include "interpreter/Session.h"

namespace dpc {

/// Computes the contents of flat storage (#dist.storage) on every device of
/// `mesh`. The result has one tensor per rank. `type` is the type of the
/// function argument that is this storage on one device. The members are
/// logical tensors in `state`. A device holds its shards of the members end to
/// end. If the storage is divided over axes, a device holds only its part of
/// that sequence. Padding is zero. Fails if `state` lacks a member, and sets
/// `missing` to the name of that member.
mlir::FailureOr<std::vector<HostTensor>>
storeFlat(const TensorMap &state, dist::StorageAttr storage, mlir::RankedTensorType type,
          const dist::MeshShape &mesh, std::string &missing);

/// The inverse of storeFlat. `held` has, by rank, the storage of each device in `ranks`. Joins the
/// parts of each member, and puts the members into `state`.
void loadFlat(llvm::ArrayRef<HostTensor> held, llvm::ArrayRef<int64_t> ranks,
              dist::StorageAttr storage, const dist::MeshShape &mesh, TensorMap &state);

} // namespace dpc

#endif // DPC_INTERPRETER_FLATSTATE_H

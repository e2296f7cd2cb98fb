#ifndef DPC_INTERPRETER_FLATSTATE_H
#define DPC_INTERPRETER_FLATSTATE_H

#include "dialects/Dist/IR/DistDialect.h"
#include "interpreter/Session.h"

namespace dpc {

/// Lays out flat storage (#dist.storage) for each device of `mesh`, ordered by
/// rank; `type` is the type of the storage's argument. The members are logical
/// tensors in `state`. A device holds its shards of the members end to end or,
/// if the storage is divided over axes, its part of that sequence. Padding is
/// zero. Fails if `state` lacks a member, and sets `missing` to its name.
mlir::FailureOr<std::vector<HostTensor>>
storeFlat(const TensorMap &state, dist::StorageAttr storage, mlir::RankedTensorType type,
          const dist::MeshShape &mesh, std::string &missing);

/// The inverse: assembles the members from the devices' storage and puts them
/// into `state`.
void loadFlat(llvm::ArrayRef<HostTensor> held, dist::StorageAttr storage,
              const dist::MeshShape &mesh, TensorMap &state);

} // namespace dpc

#endif // DPC_INTERPRETER_FLATSTATE_H

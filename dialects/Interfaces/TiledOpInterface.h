#ifndef DPC_DIALECTS_INTERFACES_TILEDOPINTERFACE_H
#define DPC_DIALECTS_INTERFACES_TILEDOPINTERFACE_H

#include "dialects/Interfaces/Interfaces.h"

namespace dpc {

/// Adds the code that uses the elements `number(i)` of a result, their
/// row-major numbers, for all multi-indices i of `shape`.
using FinishTile = llvm::function_ref<void(
    llvm::ArrayRef<int64_t> shape,
    llvm::function_ref<LoopEmitter::Index(llvm::ArrayRef<LoopEmitter::Index>)>
        number)>;

} // namespace dpc

#include "dialects/Interfaces/TiledOpInterface.h.inc"

#endif // DPC_DIALECTS_INTERFACES_TILEDOPINTERFACE_H

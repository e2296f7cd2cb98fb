#include "dialects/Interfaces/FusableOpInterface.h"

#include "dialects/Interfaces/FusableOpInterface.cpp.inc"

bool dpc::isView(mlir::Operation *op) {
  auto fusable = llvm::dyn_cast<FusableOpInterface>(op);
  return fusable && fusable.getFusionKind() == FusionKind::view;
}

#ifndef DPC_TARGETS_OBJECTS_WIDENBYTEVECTORS_H
#define DPC_TARGETS_OBJECTS_WIDENBYTEVECTORS_H

#include "llvm/IR/PassManager.h"

namespace dpc {

/// An LLVM pass for NVPTX. It makes each load and store of 8 or 16 bytes, `<8 x i8>` and
/// `<16 x i8>`, an access to one or two words of 64 bits. LLVM's code generator splits such vectors
/// into accesses of 4 bytes, because the target has no registers for them.
///
/// LLVM's load-store vectorizer makes the vectors, so it must run before this pass.
struct WidenByteVectors : llvm::PassInfoMixin<WidenByteVectors> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &);
};

} // namespace dpc

#endif // DPC_TARGETS_OBJECTS_WIDENBYTEVECTORS_H

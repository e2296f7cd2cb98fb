// Attaches all grid fill rules.

#include "targets/CUDA/Ops/Ops.h"

#include "dialects/NN/IR/NNDialect.h"

using namespace mlir;
using namespace dpc;

void dpc::registerGridFills(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    attachAttentionGridFills(*context);
    attachAttentionGradGridFill(*context);
    attachContractionGridFills(*context);
    attachConvolutionGridFills(*context);
    attachReductionGridFill(*context);
  });
}

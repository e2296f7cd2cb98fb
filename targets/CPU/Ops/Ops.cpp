#include "targets/CPU/Ops/Ops.h"

#include "dialects/NN/IR/NNDialect.h"

using namespace mlir;
using namespace dpc;

void dpc::registerVectorFills(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    attachAttentionFill(*context);
    attachAttentionGradFill(*context);
    attachContractionFills(*context);
    attachConvolutionFills(*context);
    attachReductionFills(*context);
  });
}

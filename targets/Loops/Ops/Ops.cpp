#include "targets/Loops/Ops/Ops.h"

#include "dialects/NN/IR/NNDialect.h"

using namespace mlir;
using namespace dpc;

void dpc::registerLoopRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, nn::NNDialect *) {
    attachContractionRules(*context);
    attachConvolutionRules(*context);
    attachCumSumRule(*context);
    attachElementwiseRules(*context);
    attachIndexingRules(*context);
    attachMaxPoolGradRule(*context);
    attachMaxPoolTapsRule(*context);
    attachPoolingRules(*context);
    attachRandomRules(*context);
    attachReductionRules(*context);
    attachSegmentRules(*context);
    attachShapeRules(*context);
  });
}

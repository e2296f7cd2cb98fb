// Finds the convolutions that a library can compute, and their gradients. The library makes no
// epilogue: cuDNN fuses ops only by engines that it compiles at run time.

#include "dpc/convolution.h"
#include "dialects/Interfaces/ElementTypes.h"
#include "dialects/NN/IR/Convolution.h"
#include "dpc/calls.h"
#include "targets/CUDA/Calls/Calls.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace dpc;

namespace {
/// A convolution or a gradient of one, with the values that are x, w and y.
struct ConvolutionPlan {
  dpc_convolution_t convolution = {};
  Value tensors[DPC_CONVOLUTION_WORKSPACE];
  int64_t multiplications = 0;
};
} // namespace

/// Describes a dense tensor of the convolution `shapes`. The library knows no convolutions over one
/// dimension, so these get another spatial dimension of extent 1.
static dpc_convolution_tensor_t describeTensor(const nn::Convolution &shapes,
                                               RankedTensorType type) {
  SmallVector<int64_t> extents(type.getShape());
  if (extents.size() == 3)
    extents.insert(extents.begin() + 2, 1);
  dpc_convolution_tensor_t tensor = {};
  const SmallVector<size_t> dimensions = llvm::to_vector(llvm::seq<size_t>(0, extents.size()));
  const SmallVector<size_t> inOrder = shapes.inOrder(ArrayRef<size_t>(dimensions));
  uint64_t stride = 1;
  for (size_t d : llvm::reverse(inOrder)) {
    tensor.extents[d] = static_cast<uint64_t>(extents[d]);
    tensor.strides[d] = stride;
    stride *= tensor.extents[d];
  }
  return tensor;
}

/// Copies numbers of a window, one per spatial dimension. Dimensions that describeTensor added get
/// `added`. Negative numbers become ones that no library supports.
static void copyNumbers(ArrayRef<int64_t> from, uint64_t added, uint64_t *to) {
  if (from.size() == 1)
    *to++ = added;
  llvm::copy(from, to);
}

/// Describes the convolution that `op` computes, as if its result had the type of its factors.
/// Returns nullopt if `op` is none, or if no library supports it, e.g. padding that crops.
static std::optional<ConvolutionPlan> planTensors(Operation *op, FactorForm factors) {
  ConvolutionPlan plan;
  dpc_convolution_t &convolution = plan.convolution;
  std::optional<nn::Convolution> shapes;
  auto set = [&](nn::Convolution found, uint32_t result, Value x, Value w, Value y) {
    shapes = found;
    convolution.result = result;
    plan.tensors[DPC_CONVOLUTION_X] = x;
    plan.tensors[DPC_CONVOLUTION_W] = w;
    plan.tensors[DPC_CONVOLUTION_Y] = y;
  };
  TypeSwitch<Operation *>(op)
      .Case([&](nn::ConvOp conv) {
        set(conv.getConvolution(), DPC_CONVOLUTION_Y, conv.getInput(), conv.getKernel(),
            conv.getResult());
      })
      .Case([&](nn::ConvInputGradOp conv) {
        set(conv.getConvolution(), DPC_CONVOLUTION_X, conv.getResult(), conv.getKernel(),
            conv.getGrad());
      })
      .Case([&](nn::ConvWeightGradOp conv) {
        set(conv.getConvolution(), DPC_CONVOLUTION_W, conv.getInput(), conv.getResult(),
            conv.getGrad());
      });
  if (!shapes)
    return std::nullopt;
  convolution.dtype = dtypeOf(nn::typeOf(op->getOperand(0)).getElementType());
  convolution.tf32 = factors == FactorForm::rounded && convolution.dtype == DPC_F32;
  convolution.spatial = static_cast<uint32_t>(std::max<int64_t>(2, shapes->x.getRank() - 2));
  convolution.groups = static_cast<uint64_t>(shapes->groups);
  copyNumbers(shapes->window.strides, 1, convolution.strides);
  copyNumbers(shapes->window.dilations, 1, convolution.dilations);
  copyNumbers(shapes->window.padLow, 0, convolution.pad_low);
  copyNumbers(shapes->window.padHigh, 0, convolution.pad_high);
  convolution.x = describeTensor(*shapes, shapes->x);
  convolution.w = describeTensor(*shapes, shapes->w);
  convolution.y = describeTensor(*shapes, shapes->y);
  plan.multiplications = shapes->getFlops() / 2;
  return dpc_convolution_is_valid(&convolution) ? std::optional(plan) : std::nullopt;
}

/// Whether the result of `op` has the type of its factors, as that of a library has.
static bool hasTypeOfFactors(Operation *op) {
  return nn::typeOf(op->getResult(0)).getElementType() ==
         nn::typeOf(op->getOperand(0)).getElementType();
}

ChannelOrder dpc::channelOrderOf(Operation *op, const CallOptions &options) {
  const std::optional<ConvolutionPlan> plan = planTensors(op, options.factors);
  if (!plan || !hasTypeOfFactors(op) ||
      !wantsLibrary(options, plan->multiplications, /*isComplete=*/true))
    return ChannelOrder::any;
  const dpc_convolution_t &convolution = plan->convolution;
  const bool isNarrow = dpc_convolution_type_bytes(convolution.dtype) == 2 || convolution.tf32;
  return isNarrow ? ChannelOrder::last : ChannelOrder::second;
}

bool dpc::needsNarrowSums(Operation *op, const CallOptions &options) {
  const std::optional<ConvolutionPlan> plan = planTensors(op, options.factors);
  return plan && !hasTypeOfFactors(op) &&
         dpc_convolution_type_bytes(plan->convolution.dtype) == 2 &&
         wantsLibrary(options, plan->multiplications, /*isComplete=*/true);
}

LibraryWork dpc::findWorkOfConvolution(Operation *op, const CallOptions &options) {
  const std::optional<ConvolutionPlan> plan = planTensors(op, options.factors);
  const bool isCalled = plan && hasTypeOfFactors(op) &&
                        wantsLibrary(options, plan->multiplications, /*isComplete=*/false);
  return isCalled ? LibraryWork::op : LibraryWork::none;
}

/// Plans a library call for the convolution in the first stage of `group`, as planProduct does for
/// products.
std::optional<PlannedCall> dpc::planConvolution(const KernelGraph &graph, const LoopGroup &group,
                                                const CallOptions &options) {
  if (options.products == ProductMaker::generated)
    return std::nullopt;
  Operation *root = group.stages[0].roots[0];
  std::optional<ConvolutionPlan> plan = planTensors(root, options.factors);
  if (!plan || !hasTypeOfFactors(root))
    return std::nullopt;
  const dpc_convolution_t &convolution = plan->convolution;
  for (uint32_t buffer = 0; buffer < DPC_CONVOLUTION_WORKSPACE; ++buffer)
    if (buffer != convolution.result && !isa<BlockArgument>(plan->tensors[buffer]) &&
        !graph.isMaterialised(plan->tensors[buffer]))
      return std::nullopt;
  PlannedCall call;
  call.isComplete = group.stages.size() == 1;
  if (!wantsLibrary(options, plan->multiplications, call.isComplete))
    return std::nullopt;
  call.kind = DPC_CALL_CONVOLUTION;
  call.description = std::string(reinterpret_cast<const char *>(&convolution), sizeof convolution);
  call.buffers.append(std::begin(plan->tensors), std::end(plan->tensors));
  call.buffers.push_back(/*workspace=*/nullptr);
  call.workspaceBytes = static_cast<int64_t>(dpc_convolution_workspace_bytes(&convolution));
  call.result = plan->tensors[convolution.result];
  return call;
}

// Computes the work of ops, and the bytes of collectives, for the formulas of planning/Device and
// planning/Prices.

#include "passes/Prices/OpPrices.h"

#include "dialects/Dist/IR/PlanAttr.h"
#include "dialects/Interfaces/Interfaces.h"
#include "dialects/NN/IR/Fusion.h"

#include <algorithm>

using namespace mlir;
using namespace dpc;

/// The rate at which a device computes with numbers of `type`.
static NumberType numberTypeOf(Type type) {
  if (type.isF64())
    return NumberType::f64;
  if (type.isBF16())
    return NumberType::bf16;
  return type.isF16() ? NumberType::f16 : NumberType::f32;
}

/// The type in which `op` computes: that of the first operand that has floating-point numbers. So
/// a product of bf16 tensors is one in bf16, whatever its result.
static NumberType numberTypeOf(Operation *op) {
  for (Type type : op->getOperandTypes())
    if (auto tensor = dyn_cast<RankedTensorType>(type);
        tensor && isa<FloatType>(tensor.getElementType()))
      return numberTypeOf(tensor.getElementType());
  return NumberType::f32;
}

/// How products of f32 multiply their factors, by the plan of the program of `op`.
static FactorForm factorsOf(Operation *op) {
  for (auto module = op->getParentOfType<ModuleOp>(); module;
       module = module->getParentOfType<ModuleOp>())
    if (auto plan = module->getAttrOfType<dist::PlanAttr>(dist::DistDialect::kPlanAttrName))
      return plan.getPlan().kernels.factors;
  return FactorForm::whole;
}

Work dpc::withFactors(Work work, FactorForm factors) {
  const bool multiplies = work.kind == KernelClass::product ||
                          work.kind == KernelClass::convolution ||
                          work.kind == KernelClass::attention;
  if (!multiplies || work.type != NumberType::f32 || factors == FactorForm::whole)
    return work;
  work.type = NumberType::tf32;
  if (factors == FactorForm::split)
    work.flops *= 3;
  return work;
}

static Work workOf(CostOpInterface cost, double bytes) {
  const Work work{double(cost.getFlops()), bytes, cost.getKernelClass(), numberTypeOf(cost)};
  return withFactors(work, factorsOf(cost));
}

Work dpc::workBeforeFusion(Operation *op) {
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return {};
  return workOf(cost, std::min(double(cost.getBytes()), getFusedBytes(op)));
}

Work dpc::workOfSum(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  // The sum is read and written, and the value is read.
  return {double(type.getNumElements()), 3. * double(tensorBytes(type)), KernelClass::elementwise,
          numberTypeOf(type.getElementType())};
}

/// The bytes that the ops in `kernel` read of operand `index`. Gathers read a part of it.
static double bytesRead(Operation *kernel, unsigned index) {
  const double all = tensorBytes(kernel->getOperand(index).getType());
  if (kernel->getNumRegions() != 1 || kernel->getRegion(0).empty() ||
      kernel->getRegion(0).getNumArguments() <= index)
    return all;
  const Value argument = kernel->getRegion(0).getArgument(index);
  double read = 0;
  for (Operation *user : argument.getUsers()) {
    auto cost = dyn_cast<CostOpInterface>(user);
    const bool isLargest = llvm::all_of(user->getOperandTypes(), [&](Type other) {
      return tensorBytes(other) <= tensorBytes(argument.getType());
    });
    if (!cost || !isLargest)
      return all;
    // An op that reads less of its operands than they have reads less of the largest one.
    read += all - std::max(0., double(operandAndResultBytes(user) - cost.getBytes()));
  }
  return std::clamp(read, 0., all);
}

Work dpc::workOfKernel(Operation *kernel) {
  Work work;
  if (auto cost = dyn_cast<CostOpInterface>(kernel))
    work = workOf(cost, 0);
  double most = -1;
  kernel->walk([&](CostOpInterface cost) {
    if (cost == kernel)
      return;
    const Work own = workOf(cost, 0);
    if (own.flops < most || (own.flops == most && own.kind <= work.kind))
      return;
    most = own.flops;
    if (work.kind != KernelClass::update) // an update says so itself
      work.kind = own.kind;
    work.type = own.type;
  });
  if (auto cost = dyn_cast<CostOpInterface>(kernel); cost && kernel->getNumRegions() == 0) {
    work.bytes = cost.getBytes();
    return work;
  }
  work.bytes = 0;
  for (Type type : kernel->getResultTypes())
    work.bytes += tensorBytes(type);
  for (unsigned index = 0; index < kernel->getNumOperands(); ++index)
    work.bytes += bytesRead(kernel, index);
  return work;
}

CollectiveKind dpc::priceKindOf(dist::Collective collective) {
  switch (collective) {
  case dist::Collective::all_reduce:
    return CollectiveKind::allReduce;
  case dist::Collective::reduce_scatter:
    return CollectiveKind::reduceScatter;
  case dist::Collective::all_gather:
  case dist::Collective::broadcast: // a member sends as many bytes as in an all-gather
    return CollectiveKind::allGather;
  case dist::Collective::all_to_all:
    return CollectiveKind::allToAll;
  }
  llvm_unreachable("unknown collective");
}

Price dpc::priceCollective(dist::CollectiveOpInterface collective, const MeshPrices &prices) {
  const double bytes = std::max(tensorBytes(collective->getOperand(0).getType()),
                                tensorBytes(collective->getResult(0).getType()));
  return prices.collective(priceKindOf(collective.getCollective()), bytes,
                           dist::axesOf(collective));
}

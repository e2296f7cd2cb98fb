// Implements the checks that the contracts of several levels share.

#include "passes/Verify/Contract.h"

#include "dialects/Dist/IR/Collectives.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace dpc;
using nn::ArgAttr;
using nn::ArgKind;
using nn::ResultAttr;
using nn::ResultKind;

InFlightDiagnostic Contract::violation(Operation *op) {
  return op->emitError("level '") << level << "': ";
}

LogicalResult Contract::checkFunctions(ArrayRef<StringRef> names) {
  for (auto function : module.getOps<func::FuncOp>())
    if (!llvm::is_contained(names, function.getSymName()))
      return violation(function) << "holds the function @" << function.getSymName();
  return success();
}

FailureOr<dist::MeshShape> Contract::getMesh() {
  auto meshes = llvm::to_vector(module.getOps<dist::MeshOp>());
  if (meshes.size() != 1) {
    violation(module) << "has " << meshes.size() << " meshes, not one";
    return failure();
  }
  return meshes[0].getShape();
}

LogicalResult Contract::checkSignature(func::FuncOp function) {
  StringRef name = function.getSymName();
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!nn::getArg(function, i))
      return violation(function) << "argument " << i << " of @" << name << " has no nn.arg";
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    ResultAttr result = nn::getResult(function, i);
    if (!result)
      return violation(function) << "result " << i << " of @" << name << " has no nn.result";
    if (result.getKind() == ResultKind::gradient)
      return violation(function) << "result " << i << " of @" << name
                                 << " is still the gradient of '" << result.getName() << "'";
  }
  Operation *unnamed = nullptr;
  function.getBody().walk([&](Operation *op) {
    // Constants are exempt, because folding creates them without a location.
    if (!unnamed && isa<UnknownLoc>(op->getLoc()) && !op->hasTrait<OpTrait::ConstantLike>())
      unnamed = op;
  });
  if (unnamed)
    return violation(unnamed) << "has no location";
  return success();
}

LogicalResult Contract::checkVariables(func::FuncOp function) {
  llvm::StringMap<nn::VariableOp> variables;
  for (auto variable : module.getOps<nn::VariableOp>())
    if (!variables.try_emplace(variable.getTensorName(), variable).second)
      return violation(variable) << "two variables are named '" << variable.getTensorName() << "'";
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    ArgAttr arg = nn::getArg(function, index);
    if (!nn::isState(arg.getKind()))
      continue;
    nn::VariableOp variable = variables.lookup(arg.getName());
    if (!variable)
      return violation(function) << "'" << arg.getName() << "' of @" << function.getSymName()
                                 << " has no nn.variable";
    if (variable.getType() != type)
      return violation(variable) << "'" << arg.getName() << "' is " << variable.getType()
                                 << ", but " << type << " in @" << function.getSymName();
  }
  return success();
}

LogicalResult Contract::checkStateResults(func::FuncOp function) {
  llvm::StringMap<Type> state;
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes())) {
    ArgAttr arg = nn::getArg(function, index);
    if (nn::isState(arg.getKind()) && arg.getKind() != ArgKind::constant)
      state[arg.getName()] = type;
  }
  llvm::StringSet<> given;
  for (auto [index, type] : llvm::enumerate(function.getResultTypes())) {
    ResultAttr result = nn::getResult(function, index);
    if (result.getKind() != ResultKind::state)
      continue;
    auto argument = state.find(result.getName());
    if (argument == state.end())
      return violation(function) << "@" << function.getSymName() << " gives a new value of '"
                                 << result.getName() << "', which is no state of its arguments";
    if (argument->second != type)
      return violation(function) << "'" << result.getName() << "' goes into @"
                                 << function.getSymName() << " as " << argument->second
                                 << " and comes out as " << type;
    if (!given.insert(result.getName()).second)
      return violation(function) << "@" << function.getSymName() << " gives '" << result.getName()
                                 << "' twice";
  }
  return success();
}

// Chooses, op by op, which atom of a parameter a mesh axis cuts: a greedy
// search that prices the whole step for each candidate.

#include "passes/Sharding/ChooseLoops.h"

#include "dialects/NN/IR/NNDialect.h"

using namespace mlir;
using namespace dpc;

/// The parameter that an op with a reduction loop reads, or null.
static Value parameterOf(func::FuncOp function, const OpLoops &op) {
  if (llvm::none_of(op.rule.loops,
                    [](const ShardingRule::Loop &loop) { return loop.kind == LoopKind::sum; }))
    return {};
  for (Value operand : op.op->getOperands()) {
    auto argument = dyn_cast<BlockArgument>(operand);
    if (!argument || argument.getOwner() != &function.front())
      continue;
    nn::ArgAttr arg = nn::getArg(function, argument.getArgNumber());
    if (arg && arg.getKind() == nn::ArgKind::parameter)
      return operand;
  }
  return {};
}

/// The atoms of all dimensions of `value`, each once.
static SmallVector<unsigned> atomsOf(const ProgramLoops &program, Value value) {
  SmallVector<unsigned> atoms;
  for (int64_t d = 0; d < cast<RankedTensorType>(value.getType()).getRank(); ++d)
    for (const auto &segment : program.getDim(value, d))
      for (unsigned atom : segment)
        if (!llvm::is_contained(atoms, atom))
          atoms.push_back(atom);
  return atoms;
}

void dpc::chooseLoops(func::FuncOp function, const ProgramLoops &program, const std::string &axis,
                      int64_t size, llvm::function_ref<double(const AxisPlan &)> seconds,
                      AxisPlan &plan) {
  if (size == 1)
    return;
  for (const OpLoops &op : program.getOps()) {
    Value parameter = parameterOf(function, op);
    if (!parameter)
      continue;
    SmallVector<unsigned> atoms = atomsOf(program, parameter);
    if (llvm::any_of(atoms, [&](unsigned atom) {
          auto cuts = plan.find(atom);
          return cuts != plan.end() && llvm::is_contained(cuts->second, axis);
        }))
      continue;
    std::optional<unsigned> chosen;
    double least = 0;
    for (unsigned atom : atoms) {
      if (program.getSize(atom) < size || plan.count(atom))
        continue;
      AxisPlan trial = plan;
      trial[atom].push_back(axis);
      double now = seconds(trial);
      if (!chosen || now < least) {
        chosen = atom;
        least = now;
      }
    }
    if (chosen)
      plan[*chosen].push_back(axis);
  }
}

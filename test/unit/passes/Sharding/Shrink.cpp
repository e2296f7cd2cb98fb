// Makes failing programs small: each way of leaving something out is tried at each
// place, and kept where the rest still fails, until nothing can be left out.

#include "test/unit/passes/Sharding/Shrink.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <fstream>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

/// A way of leaving something out of the case at the place of a number; false where
/// that place does not exist or has nothing to leave out, and `isEnd` in the first case.
using Reduction = bool (*)(PartitionCase &, unsigned place, bool &isEnd);

static SmallVector<func::FuncOp> functionsOf(PartitionCase &trial) {
  return llvm::to_vector<6>(trial.module.get().getOps<func::FuncOp>());
}

/// Everything but terminators, last ones first: they are most often needed by nothing.
static std::vector<Operation *> opsOf(PartitionCase &trial) {
  std::vector<Operation *> ops;
  for (func::FuncOp function : functionsOf(trial))
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// Ops and arguments that nothing reads.
static void eraseUnused(PartitionCase &trial) {
  for (Operation *op : opsOf(trial))
    if (op->use_empty())
      op->erase();
  for (func::FuncOp function : functionsOf(trial)) {
    llvm::BitVector unused(function.getNumArguments());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      unused[i] = function.getArgument(i).use_empty();
    function.eraseArguments(unused);
  }
}

static void setResultTypes(func::FuncOp function) {
  function.setType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                     function.front().getTerminator()->getOperandTypes()));
}

static bool dropFunction(PartitionCase &trial, unsigned place, bool &isEnd) {
  SmallVector<func::FuncOp> functions = functionsOf(trial);
  isEnd = functions.size() < 2 || place >= functions.size();
  if (isEnd)
    return false;
  functions[place].erase();
  return true;
}

/// The returned value of a number, among those of all functions.
static OpOperand *findReturned(PartitionCase &trial, unsigned place) {
  for (func::FuncOp function : functionsOf(trial)) {
    Operation *terminator = function.front().getTerminator();
    if (place < terminator->getNumOperands())
      return &terminator->getOpOperand(place);
    place -= terminator->getNumOperands();
  }
  return nullptr;
}

static bool dropResult(PartitionCase &trial, unsigned place, bool &isEnd) {
  OpOperand *returned = findReturned(trial, place);
  isEnd = !returned;
  if (isEnd || returned->getOwner()->getNumOperands() < 2)
    return false;
  auto function = returned->getOwner()->getParentOfType<func::FuncOp>();
  const unsigned number = returned->getOperandNumber();
  llvm::BitVector dropped(returned->getOwner()->getNumOperands());
  dropped.set(number);
  returned->getOwner()->eraseOperands(dropped);
  function.eraseResults(dropped);
  return true;
}

/// Returns what the last op reads in place of what it makes.
static bool returnOperand(PartitionCase &trial, unsigned place, bool &isEnd) {
  static const unsigned kMostOperands = 4;
  OpOperand *returned = findReturned(trial, place / kMostOperands);
  isEnd = !returned;
  Operation *maker = isEnd ? nullptr : returned->get().getDefiningOp();
  if (!maker || place % kMostOperands >= maker->getNumOperands())
    return false;
  // State goes back to where it came from.
  const Value operand = maker->getOperand(place % kMostOperands);
  nn::ResultAttr attr = nn::getResult(returned->getOwner()->getParentOfType<func::FuncOp>(),
                                      returned->getOperandNumber());
  if (attr && attr.getKind() == nn::ResultKind::state &&
      operand.getType() != returned->get().getType())
    return false;
  returned->set(operand);
  setResultTypes(returned->getOwner()->getParentOfType<func::FuncOp>());
  return true;
}

static bool replaceByParameter(PartitionCase &trial, unsigned place, bool &isEnd) {
  std::vector<Operation *> ops = opsOf(trial);
  isEnd = place >= ops.size();
  if (isEnd || !isa<FloatType>(nn::typeOf(ops[place]->getResult(0)).getElementType()) ||
      ops[place]->getNumResults() != 1)
    return false;
  auto function = ops[place]->getParentOfType<func::FuncOp>();
  // A name that no other argument has; it is what elements are made of.
  std::string name = "r" + std::to_string(ops.size());
  Builder builder(function.getContext());
  auto attrs = builder.getDictionaryAttr(builder.getNamedAttr(
      nn::NNDialect::kArgAttrName,
      nn::ArgAttr::get(function.getContext(), nn::ArgKind::parameter, name, -1, "")));
  const unsigned index = function.getNumArguments();
  function.insertArgument(index, ops[place]->getResult(0).getType(), attrs, function.getLoc());
  ops[place]->getResult(0).replaceAllUsesWith(function.getArgument(index));
  return true;
}

static bool replaceByOperand(PartitionCase &trial, unsigned place, bool &isEnd) {
  std::vector<Operation *> ops = opsOf(trial);
  isEnd = place >= ops.size();
  if (isEnd)
    return false;
  Value result = ops[place]->getResult(0);
  for (Value operand : ops[place]->getOperands())
    if (operand.getType() == result.getType()) {
      result.replaceAllUsesWith(operand);
      return true;
    }
  return false;
}

static bool dropOpRequest(PartitionCase &trial, unsigned place, bool &isEnd) {
  std::vector<Operation *> ops = opsOf(trial);
  isEnd = place >= ops.size();
  return !isEnd && ops[place]->removeAttr(dist::DistDialect::kRequestAttrName);
}

static bool dropArgumentLayout(PartitionCase &trial, unsigned place, bool &isEnd) {
  for (func::FuncOp function : functionsOf(trial)) {
    if (place < function.getNumArguments()) {
      const bool hadRequest =
          bool(function.removeArgAttr(place, dist::DistDialect::kRequestAttrName));
      return bool(function.removeArgAttr(place, dist::DistDialect::kLayoutAttrName)) || hadRequest;
    }
    place -= function.getNumArguments();
  }
  isEnd = true;
  return false;
}

static bool dropFromList(std::vector<std::string> &list, unsigned place, bool &isEnd) {
  isEnd = place >= list.size();
  if (isEnd)
    return false;
  list.erase(list.begin() + place);
  return true;
}

static bool dropAutoAxis(PartitionCase &trial, unsigned place, bool &isEnd) {
  return dropFromList(trial.mesh.autoAxes, place, isEnd);
}

static bool dropBatchAxis(PartitionCase &trial, unsigned place, bool &isEnd) {
  return dropFromList(trial.mesh.batchAxes, place, isEnd);
}

static bool flattenAxis(PartitionCase &trial, unsigned place, bool &isEnd) {
  isEnd = place >= trial.mesh.axes.size();
  if (isEnd)
    return false;
  auto [name, size] = StringRef(trial.mesh.axes[place]).split('=');
  if (size == "1")
    return false;
  trial.mesh.axes[place] = (name + "=1").str();
  return true;
}

static bool dropDetours(PartitionCase &trial, unsigned place, bool &isEnd) {
  isEnd = place > 0;
  const bool had = trial.detours.has_value();
  trial.detours.reset();
  return had && !isEnd;
}

PartitionCase dpc::test::shrink(const PartitionCase &from,
                                llvm::function_ref<bool(const PartitionCase &)> fails) {
  static const Reduction reductions[] = {dropFunction,       dropResult,       returnOperand,
                                         replaceByParameter, replaceByOperand, dropArgumentLayout,
                                         dropOpRequest,      dropDetours,      dropAutoAxis,
                                         dropBatchAxis,      flattenAxis};
  // Long steps are tried hundreds of times: what is left after this long will do.
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(30);
  PartitionCase best = from.clone();
  for (bool isSmaller = true; isSmaller && std::chrono::steady_clock::now() < end;) {
    isSmaller = false;
    for (Reduction reduce : reductions)
      for (unsigned place = 0; std::chrono::steady_clock::now() < end;) {
        PartitionCase trial = best.clone();
        bool isEnd = false;
        const bool isReduced = reduce(trial, place, isEnd);
        if (isEnd)
          break;
        if (isReduced)
          eraseUnused(trial);
        if (isReduced && succeeded(verify(trial.module.get())) && fails(trial)) {
          best = std::move(trial);
          isSmaller = true;
        } else {
          ++place;
        }
      }
  }
  return best;
}

std::string dpc::test::writeCase(const PartitionCase &trial, uint32_t seed, StringRef wrong,
                                 StringRef passes) {
  const std::string path =
      testing::TempDir() + "dpc-partition-random-" + std::to_string(seed) + ".mlir";
  std::string text;
  llvm::raw_string_ostream stream(text);
  // No pass makes detours: a program that has them is written as it is with them.
  OwningOpRef<ModuleOp> module = trial.detours ? place(trial) : nullptr;
  if (module) {
    stream << "// dpc-opt " << passes << "\n";
  } else {
    module = trial.module.get().clone();
    dist::setMachine(*module, trial.machine);
    stream << "// " << trial.commandLine() << " " << passes << "\n";
  }
  SmallVector<StringRef> lines;
  wrong.trim().split(lines, '\n');
  for (StringRef line : lines)
    stream << "// " << line << "\n";
  // Passes may be told the names of ops.
  bool hasNames = false;
  module->walk([&](Operation *op) { hasNames |= isa<NameLoc>(op->getLoc()); });
  module->print(stream, OpPrintingFlags().enableDebugInfo(hasNames));
  stream << "\n";
  std::ofstream(path) << text;
  return path;
}

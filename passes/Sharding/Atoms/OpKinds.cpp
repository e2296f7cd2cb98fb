// Numbers the values of a program, and the kinds and forms of its ops. Ops of one kind can then
// share the result of an analysis.

#include "passes/Sharding/Atoms/Structure.h"

#include "dialects/NN/IR/Conversions.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;

static void print(raw_ostream &os, ArrayRef<ShardingRule::ValueLoops> values) {
  for (const ShardingRule::ValueLoops &value : values) {
    os << ';';
    for (const ShardingRule::DimLoops &dim : value) {
      os << ',';
      for (const auto &segment : dim) {
        os << '+';
        for (unsigned loop : segment)
          os << loop << ' ';
      }
    }
  }
}

/// Returns the text of the form of `op`: its name, its rule, and its loops in atoms. The atoms
/// are numbered within the op, so that ops of repeated layers have the same text.
static std::string formOf(const OpLoops &op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op.op->getName() << '|';
  for (const ShardingRule::Loop &loop : op.rule.loops)
    os << loop.size << ':' << static_cast<int>(loop.kind) << ' ';
  print(os, op.rule.operands);
  print(os, op.rule.results);
  os << '|';
  for (const auto &set : op.rule.additiveSets) {
    os << ';';
    for (unsigned operand : set)
      os << operand << ' ';
  }
  os << (op.rule.monotone ? "m" : "") << '|';
  llvm::DenseMap<unsigned, size_t> numbers;
  for (auto [number, atom] : llvm::enumerate(op.atoms))
    numbers[atom] = number;
  for (const AtomDim &loop : op.loops) {
    os << ',';
    for (const auto &segment : loop) {
      os << '+';
      for (unsigned atom : segment)
        os << numbers[atom] << ' ';
    }
  }
  os << '|';
  for (int64_t size : op.sizes)
    os << size << ' ';
  for (auto [value, dim] : op.broken)
    os << 'b' << value << '.' << dim;
  for (unsigned loop : op.uncut)
    os << 'u' << loop;
  for (const auto &[loop, axis] : op.whole)
    os << 'w' << loop << axis;
  return text;
}

/// Returns the text of the kind of `op`. The text has all facts on which the layouts of the op
/// depend, except the facts that differ between plans, such as the layouts of its operands and the
/// cuts of its atoms (OpSituation). `form` is the result of formOf.
static std::string kindOf(const OpLoops &op, StringRef form) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op.op->getOperandTypes() << op.op->getResultTypes() << op.work.flops << '/' << op.work.bytes
     << '|' << form;
  return text;
}

void ProgramLoops::describe(OpLoops &op) {
  op.atoms.clear();
  op.sizes.clear();
  llvm::DenseSet<unsigned> known;
  for (const AtomDim &loop : op.loops)
    for (const auto &segment : loop)
      for (unsigned atom : segment)
        if (known.insert(atom).second)
          op.atoms.push_back(atom);
  for (unsigned atom : op.atoms)
    op.sizes.push_back(sizes[atom]);
  const std::string form = formOf(op);
  op.form = forms->try_emplace(form, static_cast<unsigned>(forms->size())).first->second;
  op.kind =
      kinds->try_emplace(kindOf(op, form), static_cast<unsigned>(kinds->size())).first->second;
}

void ProgramLoops::describeOps() {
  kinds = std::make_shared<llvm::StringMap<unsigned>>();
  forms = std::make_shared<llvm::StringMap<unsigned>>();
  for (auto [number, value] : llvm::enumerate(table->values))
    table->numbers[value] = number;
  opCounts.assign(sizes.size(), 0);
  for (size_t index = 0; index < ops.size(); ++index) {
    OpLoops &op = own(index);
    describe(op);
    op.collisions = std::make_shared<const LoopCollisions>(op.rule);
    for (unsigned atom : op.atoms)
      ++opCounts[atom];
    for (Value operand : op.op->getOperands())
      op.operands.push_back(getNumber(operand));
    for (Value result : op.op->getResults())
      op.results.push_back(getNumber(result));
  }
}

OpLoops &ProgramLoops::own(size_t index) {
  if (ops[index].use_count() > 1)
    ops[index] = std::make_shared<OpLoops>(*ops[index]);
  return *ops[index];
}

void ProgramLoops::keepWhole(Value value, StringRef axis) {
  for (size_t index = 0; index < ops.size(); ++index) {
    OpLoops &op = own(index);
    const size_t before = op.whole.size();
    for (OpOperand &operand : op.op->getOpOperands()) {
      if (nn::getSource(operand.get()) != value)
        continue;
      SmallVector<unsigned> loops;
      for (const auto &dim : op.rule.operands[operand.getOperandNumber()])
        for (const auto &segment : dim)
          loops.append(segment.begin(), segment.end());
      // If a conversion were cut, an op that needs the whole result would have to gather this
      // result.
      if (nn::isConversion(op.op) || llvm::any_of(loops, [&](unsigned loop) {
            return op.rule.loops[loop].kind == LoopKind::sum;
          }))
        for (unsigned loop : loops)
          op.whole.push_back({loop, axis.str()});
    }
    if (op.whole.size() > before)
      describe(op);
  }
}

void ProgramLoops::keepUpdatesWhole(StringRef axis) {
  llvm::DenseSet<Value> updated;
  for (size_t index = 0; index < ops.size(); ++index) {
    Operation *op = ops[index]->op;
    if (!updatesState(op) &&
        llvm::none_of(op->getOperands(), [&](Value operand) { return updated.contains(operand); }))
      continue;
    updated.insert(op->result_begin(), op->result_end());
    OpLoops &followsLoop = own(index);
    for (unsigned loop = 0; loop < followsLoop.rule.loops.size(); ++loop)
      followsLoop.whole.push_back({loop, axis.str()});
    describe(followsLoop);
  }
}

unsigned ProgramLoops::splitAtom(unsigned atom, ArrayRef<unsigned> members) {
  const unsigned made = sizes.size();
  sizes.push_back(sizes[atom]);
  // The natural layout of an argument (Assignment::getNatural) depends on the number of ops per
  // atom. The new atom gets the same count of ops as the old atom, whose count stays, so that the
  // split changes no argument's layout.
  opCounts.push_back(opCounts[atom]);
  for (unsigned index : members) {
    if (!llvm::is_contained(ops[index]->atoms, atom))
      continue;
    OpLoops &op = own(index);
    for (AtomDim &loop : op.loops)
      for (auto &segment : loop)
        std::replace(segment.begin(), segment.end(), atom, made);
    describe(op);
  }
  return made;
}

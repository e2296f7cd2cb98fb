// Follows the accesses of a played step, to find when each buffer holds a value.

#include "passes/Play/ExecMemory.h"

#include "dialects/Exec/IR/Accesses.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Exec/IR/Kernels.h"
#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/Program.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

StringRef dpc::nameOf(MemoryUse use) {
  static constexpr StringLiteral names[] = {"parameters",
                                            "optimizer state",
                                            "buffers and frozen values",
                                            "inputs, labels, outputs, metrics",
                                            "gradients",
                                            "gathered parameters",
                                            "activations"};
  static_assert(std::size(names) == kMemoryUses);
  return names[size_t(use)];
}

static std::string typeText(MemRefType type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type.getElementType() << '[';
  llvm::interleaveComma(type.getShape(), os);
  os << ']';
  return text;
}

static MemoryUse useOf(PersistentOp persistent) {
  const SmallVector<nn::ArgAttr> args = getBoundArgs(persistent);
  switch (args.empty() ? nn::ArgKind::input : args.front().getKind()) {
  case nn::ArgKind::parameter:
    return MemoryUse::parameters;
  case nn::ArgKind::optimizer:
    return MemoryUse::optimizer;
  case nn::ArgKind::buffer:
  case nn::ArgKind::constant:
    return MemoryUse::constants;
  default:
    return MemoryUse::data;
  }
}

static MemoryUse useOf(BufferOp buffer) {
  auto attr = buffer->getAttrOfType<PurposeAttr>(ExecDialect::kPurposeAttrName);
  switch (attr ? attr.getValue() : Purpose::activations) {
  case Purpose::gradients:
    return MemoryUse::gradients;
  case Purpose::gathered:
    return MemoryUse::gathered;
  default:
    return MemoryUse::activations;
  }
}

namespace {

/// A temporary that an op uses.
struct Use {
  Operation *root; ///< an exec.buffer, or an exec.frame
  bool reads = false;
  bool writesAll = false;
  std::string maker; ///< the ONNX node of the value that is written
};
using OpUses = SmallVector<Use, 4>;

class Follower {
public:
  Follower(RankMemory &memory, const ExecPlay &play, const PlayedRank &rank)
      : memory(memory), play(play), rank(rank), actions(play.problem.tables[rank.table].actions) {}

  void follow(EntryOp entry) {
    findScopes(entry.getBodyBlock());
    visit(entry.getBodyBlock());
  }

private:
  /// A buffer, whatever copy of its op names it: its number, or its only op.
  using Key = std::pair<int64_t, Operation *>;
  static Key keyOf(BufferOp buffer) {
    return buffer.getNumber() ? Key(*buffer.getNumber(), nullptr) : Key(-1, buffer);
  }

  /// Finds the loops and routines that contain all uses of a buffer. Such a buffer holds nothing
  /// between their iterations or runs.
  void findScopes(Block &block) {
    for (Operation &op : block) {
      if (auto loop = dyn_cast<LoopOp>(op)) {
        scopes.push_back(loop);
        findScopes(loop.getBodyBlock());
        scopes.pop_back();
      } else if (auto call = dyn_cast<ComputeOp>(op)) {
        findScopes(
            tables.lookupNearestSymbolFrom<FunctionOp>(call, call.getCalleeAttr()).getBodyBlock());
      } else if (!namesMemory(&op)) {
        for (Value operand : op.getOperands())
          if (isa<MemRefType>(operand.getType()))
            if (auto buffer = dyn_cast_or_null<BufferOp>(placeOf(operand, tables).root))
              addUse(keyOf(buffer));
      }
      if (auto run = dyn_cast<RunOp>(op)) {
        auto routine = tables.lookupNearestSymbolFrom<RoutineOp>(run, run.getRoutineAttr());
        scopes.push_back(routine);
        if (seenRoutines.insert(routine).second)
          findScopes(routine.getBodyBlock());
        scopes.pop_back();
      }
    }
  }

  void addUse(const Key &key) {
    auto [known, isNew] = scopesOfBuffers.try_emplace(key, scopes);
    if (isNew)
      return;
    size_t common = 0;
    while (common < std::min(known->second.size(), scopes.size()) &&
           known->second[common] == scopes[common])
      ++common;
    known->second.truncate(common);
  }

  /// Begins an iteration of a loop, or a run of a routine.
  void enter(Operation *scope) {
    for (auto [key, buffer] : indexOf)
      if (const auto &own = scopesOfBuffers[key]; !own.empty() && own.back() == scope)
        lifeOf[buffer] = kNoLife;
  }

  void visit(Block &block) {
    for (Operation &op : block)
      visit(&op);
  }

  void visit(Operation *op) {
    if (auto loop = dyn_cast<LoopOp>(op)) {
      for (int64_t i = 0; i < int64_t(loop.getCount()); ++i) {
        enter(loop);
        visit(loop.getBodyBlock());
      }
    } else if (auto run = dyn_cast<RunOp>(op)) {
      auto routine = tables.lookupNearestSymbolFrom<RoutineOp>(run, run.getRoutineAttr());
      enter(routine);
      running = run;
      visit(routine.getBodyBlock());
      running = nullptr;
    } else if (auto call = dyn_cast<ComputeOp>(op)) {
      compute(tables.lookupNearestSymbolFrom<FunctionOp>(call, call.getCalleeAttr()));
    } else if (isa<ZeroOp>(op)) {
      use(usesOf(op), rank.actions[action].begin, rank.actions[action].end);
      ++action;
    } else if (isStart(op)) {
      const double begin = rank.actions[action].begin;
      use(usesOf(op), begin, begin);
      ++action;
    } else if (auto wait = dyn_cast<WaitOp>(op)) {
      OpUses uses = usesOf(wait.getEvent().getDefiningOp());
      for (Use &each : uses)
        each.reads = true; // the value that the start began lives on
      use(uses, rank.actions[action].begin, rank.actions[action].end);
      ++action;
    }
  }

  void compute(FunctionOp function) {
    const PlayedAction &played = rank.actions[action];
    const std::vector<PlayedKernel> &kernels = play.functions[actions[action].number].kernels;
    const double seconds = play.functions[actions[action].number].seconds;
    const double scale = seconds > 0 ? (played.end - played.begin) / seconds : 0;
    double begin = played.begin;
    size_t number = 0;
    for (Operation &op : function.getBodyBlock()) {
      if (namesMemory(&op))
        continue;
      double end = begin;
      if (isa<LaunchOp, CopyOp>(op))
        end += scale * kernels[number++].seconds;
      use(usesOf(&op), begin, end);
      begin = end;
    }
    ++action;
  }

  const OpUses &usesOf(Operation *op) {
    auto [known, isNew] = usesOfOps.try_emplace(op);
    if (!isNew)
      return known->second;
    OpUses uses;
    auto launch = dyn_cast<LaunchOp>(op);
    auto body = dyn_cast_or_null<nn::KernelOp>(launch ? findKernelBody(launch, tables) : nullptr);
    size_t output = 0;
    for (const Access &access : accessesOf(op)) {
      StringRef maker = firstNodeOf(op->getLoc());
      if (body && access.isWrite && output < body->getNumResults())
        if (Operation *made =
                body.getBodyBlock().getTerminator()->getOperand(output).getDefiningOp()) {
          // Launches of several layers may share a kernel, which has the nodes of the first one.
          const StringRef node = firstNodeOf(made->getLoc());
          if (llvm::is_contained(nodesOf(op->getLoc()), node))
            maker = node;
        }
      output += access.isWrite;
      const bool isScratch = launch && llvm::is_contained(launch.getScratch(), access.buffer);
      const Place place = placeOf(access.buffer, tables);
      if (!isa_and_nonnull<BufferOp, FrameOp>(place.root))
        continue;
      auto use = llvm::find_if(uses, [&](const Use &each) { return each.root == place.root; });
      if (use == uses.end())
        use = uses.insert(uses.end(), Use{place.root});
      const bool isWhole =
          place.stride == 0 && !place.shardAxes &&
          bufferBytes(place.root->getResult(0).getType()) == bufferBytes(access.buffer.getType());
      use->reads |= !access.isWrite;
      use->writesAll |= access.isWrite && isWhole;
      if (access.isWrite && use->maker.empty())
        use->maker = maker.str() + (isScratch && !maker.empty() ? " (scratch)" : "");
    }
    return usesOfOps[op] = std::move(uses);
  }

  /// The buffer that `root` is now; a frame is a buffer of the current run. nullopt for a
  /// persistent buffer.
  std::optional<size_t> bufferOf(Operation *root) {
    if (auto frame = dyn_cast<FrameOp>(root))
      root = placeOf(running.getFrames()[frame.getNumber()], tables).root;
    auto buffer = dyn_cast_or_null<BufferOp>(root);
    if (!buffer)
      return std::nullopt;
    auto [known, isNew] = indexOf.insert({keyOf(buffer), memory.buffers.size()});
    if (isNew) {
      auto type = cast<MemRefType>(buffer.getType());
      memory.buffers.push_back({"", typeText(type), useOf(buffer), bufferBytes(type),
                                int64_t(buffer.getOffset().value_or(0))});
      lifeOf.resize(memory.buffers.size(), kNoLife);
    }
    return known->second;
  }

  void use(const OpUses &uses, double begin, double end) {
    SmallVector<size_t, 4> read, made;
    for (const Use &each : uses) {
      const std::optional<size_t> buffer = bufferOf(each.root);
      if (!buffer)
        continue;
      size_t &life = lifeOf[*buffer];
      if (life == kNoLife || (each.writesAll && !each.reads)) {
        life = memory.lives.size();
        memory.lives.push_back({*buffer, begin, end});
        made.push_back(*buffer);
      } else {
        read.push_back(*buffer);
      }
      memory.lives[life].end = end;
      if (memory.buffers[*buffer].name.empty())
        memory.buffers[*buffer].name = each.maker;
    }
    // A value that takes the place of an operand ends the operand's life.
    for (size_t from : read)
      for (size_t to : made) {
        const PlannedBuffer &a = memory.buffers[from], &b = memory.buffers[to];
        if (a.offset < b.offset + b.bytes && b.offset < a.offset + a.bytes)
          memory.lives[lifeOf[from]].end = begin;
      }
  }

  static constexpr size_t kNoLife = SIZE_MAX;
  RankMemory &memory;
  const ExecPlay &play;
  const PlayedRank &rank;
  const std::vector<PlayAction> &actions;
  size_t action = 0;
  RunOp running;
  SymbolTableCollection tables;
  DenseMap<Operation *, OpUses> usesOfOps; // looked up by key only, as the next one
  DenseMap<Key, SmallVector<Operation *, 2>> scopesOfBuffers;
  SmallVector<Operation *, 2> scopes;       ///< of findScopes()
  llvm::DenseSet<Operation *> seenRoutines; ///< of findScopes()
  llvm::MapVector<Key, size_t> indexOf;
  std::vector<size_t> lifeOf; ///< by buffer: its latest life
};

} // namespace

RankMemory dpc::memoryOf(ModuleOp program, StringRef entry, const ExecPlay &play,
                         const PlayedRank &rank) {
  RankMemory memory;
  for (auto persistent : program.getOps<PersistentOp>())
    memory.buffers.push_back({nameOfBinding(persistent), typeText(persistent.getBufferType()),
                              useOf(persistent), bufferBytes(persistent.getType()),
                              int64_t(persistent.getOffset().value_or(0))});
  if (auto planned = program->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName))
    memory.plannedBytes = planned.getPeak();
  Follower follower(memory, play, rank);
  follower.follow(program.lookupSymbol<EntryOp>(entry));
  return memory;
}

// Checks the contract of level `scheduled` by simulating the program's accesses byte by byte.

#include "passes/Verify/BufferContents.h"
#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/Exec/IR/ExecOps.h"
#include "dialects/Exec/IR/InPlace.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYSCHEDULED
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::exec;

namespace {

/// The buffers and kernels of a module. Each one is looked up once; the result is reused for all
/// ranks and microbatches.
class Names {
public:
  explicit Names(ModuleOp module) : module(module) {}

  /// The place of a buffer, and the number of the allocated buffer that it belongs to.
  struct Buffer {
    Place place;
    ByteRange range; ///< in microbatch 0, on the first rank of a group
    int64_t number;
  };
  Buffer get(Value buffer) {
    auto [entry, isNew] = buffers.try_emplace(buffer);
    if (isNew) {
      Place place = placeOf(buffer, symbols);
      int64_t begin = offsetOf(place.root).value_or(0) + place.offset;
      entry->second = {place,
                       {int64_t(spaceOf(place.root)), begin, begin + bufferBytes(buffer.getType())},
                       numberOf(place.root)};
    }
    return entry->second;
  }

  RoutineOp getRoutine(RunOp run) {
    return symbols.lookupSymbolIn<RoutineOp>(module, run.getRoutineAttr());
  }

  func::FuncOp getKernel(LaunchOp launch) {
    return symbols.lookupSymbolIn<func::FuncOp>(module, launch.getKernelAttr());
  }

  int64_t numberOf(Operation *op) {
    auto [entry, isNew] = numbers.try_emplace(op, operations.size());
    if (isNew)
      operations.push_back(op);
    return entry->second;
  }
  Operation *getOperation(int64_t number) const { return operations[number]; }

private:
  ModuleOp module;
  SymbolTableCollection symbols;
  llvm::DenseMap<Value, Buffer> buffers;
  /// A number for each buffer, persistent buffer and start: its index in `operations`.
  llvm::DenseMap<Operation *, int64_t> numbers;
  SmallVector<Operation *> operations;
};

/// Simulates one entry on one rank.
class Player {
public:
  Player(EntryOp entry, Names &names, const dist::MeshShape &mesh, int64_t rank)
      : entry(entry), names(names), mesh(mesh), coordinates(mesh.coordinates(rank)) {
    auto module = entry->getParentOfType<ModuleOp>();
    // The host fills state, inputs and controls before the entry begins.
    for (auto persistent : module.getOps<PersistentOp>())
      if (!isa<nn::ResultAttr>(persistent.getBinding()))
        contents.write(rangeOf(persistent), names.numberOf(persistent));
  }

  LogicalResult run() {
    if (failed(play(entry.getBodyBlock())))
      return failure();
    if (!waiting.empty())
      return violation(waiting.begin()->first) << "is never waited for";
    return success();
  }

private:
  static InFlightDiagnostic violation(Operation *op) {
    return op->emitError("level 'scheduled': ");
  }

  LogicalResult play(Block &block) {
    for (Operation &op : block)
      if (failed(play(&op)))
        return failure();
    return success();
  }

  LogicalResult play(Operation *op) {
    if (namesMemory(op))
      return success();
    if (auto loop = dyn_cast<LoopOp>(op)) {
      size_t before = waiting.size();
      for (iteration = 0; iteration < loop.getCount(); ++iteration)
        if (failed(play(loop.getBodyBlock())))
          return failure();
      iteration = 0;
      if (waiting.size() != before)
        return violation(op) << "leaves a communication under way";
      return success();
    }
    if (auto run = dyn_cast<RunOp>(op))
      return playRun(run);
    if (auto start = dyn_cast<StartOp>(op))
      return playStart(start);
    if (auto send = dyn_cast<StartSendOp>(op))
      return playSend(send);
    if (auto recv = dyn_cast<StartRecvOp>(op))
      return playRecv(recv);
    if (auto wait = dyn_cast<WaitOp>(op))
      return playWait(wait);
    if (auto launch = dyn_cast<LaunchOp>(op))
      return playLaunch(launch);
    if (auto copy = dyn_cast<CopyOp>(op)) {
      if (failed(read(op, copy.getInput(), "input")))
        return failure();
      return write(op, copy.getOutput(), "output");
    }
    // The op is an exec.zero or an exec.microbatch, whose only buffer is its output.
    for (Value operand : op->getOperands())
      if (isa<MemRefType>(operand.getType()) && failed(write(op, operand, "output")))
        return failure();
    return success();
  }

  // Members of a bucket are aligned, and a collective also moves the bytes between them. These
  // bytes need not have been written, since no op reads them afterwards. Therefore only the written
  // parts of the input count as written in the output.
  LogicalResult playStart(StartOp start) {
    ByteRange from = rangeOf(start.getInput()), to = rangeOf(start.getOutput());
    if (contents.whoForbidsRead(from))
      return violation(start) << "input (" << describe(from)
                              << ") is being written by a collective";
    if (failed(mayWrite(start, start.getOutput(), "output")))
      return failure();
    std::vector<ByteRange> pieces = contents.piecesOf(from, numberOf(start.getInput()));
    if (pieces.empty())
      return violation(start) << "input (" << describe(from) << ") was never written";
    if (start.getKind() == dist::Collective::all_to_all && from.overlaps(to))
      return violation(start) << "output (" << describe(to) << ") lies on the input ("
                              << describe(from) << "), parts of which are still to be sent";
    // If the collective moves data to other offsets, the complete output counts as written.
    if (start.getKind() == dist::Collective::all_to_all ||
        from.end - from.begin != to.end - to.begin)
      pieces = {to};
    else
      for (ByteRange &piece : pieces)
        piece = {to.space, piece.begin - from.begin + to.begin, piece.end - from.begin + to.begin};
    waiting[start] = pieces;
    contents.begin(names.numberOf(start), from, to);
    return success();
  }

  LogicalResult playRun(RunOp run) {
    frames = run.getFrames();
    iteration = run.getMicro();
    const size_t before = waiting.size();
    const LogicalResult played = play(names.getRoutine(run).getBodyBlock());
    iteration = 0;
    frames = {};
    if (succeeded(played) && waiting.size() != before)
      return violation(run) << "leaves a communication under way";
    return played;
  }

  LogicalResult playSend(StartSendOp send) {
    if (failed(read(send, send.getBuffer(), "buffer")))
      return failure();
    waiting[send] = {};
    contents.begin(names.numberOf(send), rangeOf(send.getBuffer()), {});
    return success();
  }

  LogicalResult playRecv(StartRecvOp recv) {
    if (failed(mayWrite(recv, recv.getBuffer(), "buffer")))
      return failure();
    const ByteRange to = rangeOf(recv.getBuffer());
    waiting[recv] = {to};
    contents.begin(names.numberOf(recv), {}, to);
    return success();
  }

  /// The buffer that the collective or message `start` writes; null for an exec.start_send.
  static Value outputOf(Operation *start) {
    if (auto collective = dyn_cast<StartOp>(start))
      return collective.getOutput();
    auto recv = dyn_cast<StartRecvOp>(start);
    return recv ? recv.getBuffer() : Value();
  }

  LogicalResult playWait(WaitOp wait) {
    Operation *start = wait.getEvent().getDefiningOp();
    auto at = waiting.find(start);
    if (at == waiting.end())
      return violation(wait) << "waits for what is not under way";
    contents.end(names.numberOf(start));
    for (const ByteRange &piece : at->second)
      contents.write(piece, numberOf(outputOf(start)));
    waiting.erase(at);
    return success();
  }

  LogicalResult playLaunch(LaunchOp launch) {
    func::FuncOp kernel = names.getKernel(launch);
    SmallVector<std::pair<ByteRange, std::string>> written;
    for (auto [i, input] : llvm::enumerate(launch.getInputs()))
      if (failed(read(launch, input, "operand " + std::to_string(i))))
        return failure();
    auto add = [&](Value output, std::string name) -> LogicalResult {
      ByteRange range = rangeOf(output);
      for (const auto &[other, otherName] : written)
        if (other.overlaps(range))
          return violation(launch) << name << " and " << otherName << " share bytes";
      written.push_back({range, name});
      return success();
    };
    for (auto [r, output] : llvm::enumerate(launch.getOutputs())) {
      std::string name = "result " + std::to_string(r);
      if (failed(add(output, name)))
        return failure();
      ByteRange to = rangeOf(output);
      for (auto [i, input] : llvm::enumerate(launch.getInputs())) {
        ByteRange from = rangeOf(input);
        if (from.overlaps(to) &&
            (from.begin != to.begin || from.end != to.end || !mayComputeInPlace(kernel, i, r)))
          return violation(launch) << name << " lies on operand " << i << ", but @"
                                   << launch.getKernel() << " cannot compute in place";
      }
    }
    for (Value scratch : launch.getScratch()) {
      if (failed(add(scratch, "scratch")))
        return failure();
      for (auto [i, input] : llvm::enumerate(launch.getInputs()))
        if (rangeOf(input).overlaps(rangeOf(scratch)))
          return violation(launch) << "scratch lies on operand " << i;
      if (failed(write(launch, scratch, "scratch")))
        return failure();
    }
    for (auto [r, output] : llvm::enumerate(launch.getOutputs()))
      if (failed(write(launch, output, "result " + std::to_string(r))))
        return failure();
    return success();
  }

  LogicalResult read(Operation *op, Value buffer, const std::string &name) {
    ByteRange range = rangeOf(buffer);
    if (auto event = contents.whoForbidsRead(range))
      return violation(op) << name << " (" << describe(range)
                           << ") is being written by a collective";
    if (auto stranger = contents.findStranger(range, numberOf(buffer))) {
      InFlightDiagnostic error = violation(op)
                                 << name << " (" << describe(range) << "): byte " << stranger->byte;
      if (stranger->buffer < 0)
        return error << " was never written";
      error.attachNote(names.getOperation(stranger->buffer)->getLoc()) << "by this buffer";
      return error << " has been overwritten by another buffer";
    }
    return success();
  }

  LogicalResult mayWrite(Operation *op, Value buffer, const std::string &name) {
    ByteRange range = rangeOf(buffer);
    if (contents.whoForbidsWrite(range))
      return violation(op) << name << " (" << describe(range) << ") is in use by a collective";
    return success();
  }

  LogicalResult write(Operation *op, Value buffer, const std::string &name) {
    if (failed(mayWrite(op, buffer, name)))
      return failure();
    contents.write(rangeOf(buffer), numberOf(buffer));
    return success();
  }

  static std::string describe(const ByteRange &range) {
    return "bytes [" + std::to_string(range.begin) + ", " + std::to_string(range.end) + ") of " +
           stringifySpace(Space(range.space)).str();
  }

  static ByteRange rangeOf(PersistentOp root) {
    int64_t begin = offsetOf(root).value_or(0);
    return {int64_t(spaceOf(root)), begin, begin + bufferBytes(root.getType())};
  }
  ByteRange rangeOf(Value buffer) {
    const Names::Buffer known = names.get(buffer);
    if (auto frame = dyn_cast<FrameOp>(known.place.root)) {
      // Frames are whole buffers or parts of buffers of the entry.
      const ByteRange own = rangeOf(frames[frame.getNumber()]);
      int64_t moved = known.place.offset + known.place.stride * int64_t(iteration);
      if (known.place.shardAxes)
        moved += known.place.shardStride * indexAlong(known.place.shardAxes);
      return {own.space, own.begin + moved, own.begin + moved + bufferBytes(buffer.getType())};
    }
    int64_t moved = known.place.stride * int64_t(iteration);
    if (known.place.shardAxes)
      moved += known.place.shardStride * indexAlong(known.place.shardAxes);
    return {known.range.space, known.range.begin + moved, known.range.end + moved};
  }

  /// The number of the allocated buffer that `buffer` belongs to.
  int64_t numberOf(Value buffer) {
    const Names::Buffer known = names.get(buffer);
    if (auto frame = dyn_cast<FrameOp>(known.place.root))
      return numberOf(frames[frame.getNumber()]);
    return known.number;
  }

  /// Returns the index of this rank in its group along `axes`.
  int64_t indexAlong(ArrayAttr axes) {
    auto [entry, isNew] = indices.try_emplace(axes);
    if (isNew)
      entry->second =
          dist::groupIndex(mesh, llvm::to_vector(axes.getAsValueRange<StringAttr>()), coordinates);
    return entry->second;
  }

  EntryOp entry;
  Names &names;
  const dist::MeshShape &mesh;
  llvm::SmallVector<int64_t, 4> coordinates;
  llvm::DenseMap<Attribute, int64_t> indices;
  BufferContents contents;
  /// The current iteration of the loop that is simulated; 0 outside of loops.
  uint64_t iteration = 0;
  /// The frames of the run that is simulated; none outside of runs.
  ValueRange frames;
  /// The starts whose wait has not come yet. Each has the byte ranges of its output that count as
  /// written after the wait.
  llvm::MapVector<Operation *, std::vector<ByteRange>> waiting;
};

struct VerifyScheduledPass : dpc::impl::VerifyScheduledBase<VerifyScheduledPass> {
  void runOnOperation() override {
    for (dist::RankProgram program : dist::programsOf(getOperation()))
      if (failed(verify(program)))
        return signalPassFailure();
  }

private:
  static LogicalResult verify(const dist::RankProgram &program) {
    ModuleOp module = program.module;
    auto memory = module->getAttrOfType<MemoryAttr>(ExecDialect::kMemoryAttrName);
    if (!memory)
      return module.emitError("level 'scheduled': has no exec.memory");
    for (auto persistent : module.getOps<PersistentOp>())
      if (failed(checkPlace(persistent, bufferBytes(persistent.getType()), memory)))
        return failure();
    const dist::MeshShape mesh = dist::getMeshShape(module);
    Names names(module);
    for (Operation &op : *module.getBody()) {
      if (!isa<EntryOp, RoutineOp>(op))
        continue;
      WalkResult walked = op.walk([&](BufferOp buffer) {
        return WalkResult(checkPlace(buffer, bufferBytes(buffer.getType()), memory));
      });
      if (walked.wasInterrupted())
        return failure();
    }
    for (auto entry : module.getOps<EntryOp>()) {
      for (int64_t rank : getDistinctRanks(entry, mesh, program))
        if (failed(Player(entry, names, mesh, rank).run()))
          return failure();
    }
    return success();
  }

  /// Returns the ranks to simulate. The buffers of two ranks differ only in views of shards, which
  /// depend on the coordinates along the axes of these views. The set therefore has one rank for
  /// each combination of these coordinates. All other coordinates of this rank are 0, except that
  /// the rank runs `program`.
  static SmallVector<int64_t> getDistinctRanks(EntryOp entry, const dist::MeshShape &mesh,
                                               const dist::RankProgram &program) {
    llvm::StringSet<> axes;
    entry->getParentOfType<ModuleOp>().walk([&](ViewOp view) {
      if (ArrayAttr over = view.getAxesAttr())
        for (StringRef axis : over.getAsValueRange<StringAttr>())
          axes.insert(axis);
    });
    SmallVector<int64_t> ranks;
    for (int64_t rank = 0; rank < mesh.worldSize(); ++rank) {
      auto coordinates = mesh.coordinates(rank);
      if (program.runsOn(mesh, coordinates) &&
          llvm::all_of(llvm::enumerate(mesh.axes), [&](auto axis) {
            return axes.contains(axis.value().name) || coordinates[axis.index()] == 0 ||
                   (program.stage && axis.value().name == dist::kPipeAxis);
          }))
        ranks.push_back(rank);
    }
    return ranks;
  }

  static LogicalResult checkPlace(Operation *op, int64_t bytes, MemoryAttr memory) {
    Space space = spaceOf(op);
    std::optional<int64_t> offset = offsetOf(op);
    if (!offset)
      return op->emitError("level 'scheduled': has no offset");
    int64_t extent = space == Space::arena ? memory.getArena() : memory.getShared();
    if (*offset + bytes > extent)
      return op->emitError("level 'scheduled': ends at byte ")
             << *offset + bytes << " of " << stringifySpace(space) << ", which has " << extent;
    return success();
  }
};

} // namespace

// Verifiers of the `exec` ops, and the space and offset of an exec.buffer or
// exec.persistent. A trailing comment such as `start_c2` says that its line checks
// constraint (C2) of exec.start.

#include "dialects/Exec/IR/ExecDialect.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/MeshGroups.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::exec;

/// Parses a list of types in parentheses. `type($operands)` needs at least one type.
static ParseResult parseTypes(OpAsmParser &parser, SmallVectorImpl<Type> &types) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Paren,
                                        [&] { return parser.parseType(types.emplace_back()); });
}

static void printTypes(OpAsmPrinter &printer, Operation *, TypeRange types) {
  printer << '(' << types << ')';
}

#define GET_OP_CLASSES
#include "dialects/Exec/IR/ExecOps.cpp.inc"

//===----------------------------------------------------------------------===//
// Module level
//===----------------------------------------------------------------------===//

/// Verifies a persistent buffer that holds a control: a scalar that the host
/// writes before each call of an entry.
static LogicalResult verifyControl(PersistentOp op, nn::ArgAttr arg) {
  static constexpr StringLiteral known[] = {"step", "seed", "learning_rate", "valid_rows"};
  if (!is_contained(known, arg.getName())) // persistent_c2
    return op.emitOpError("is bound to the unknown control '") << arg.getName() << "'";
  MemRefType type = op.getBufferType();
  Type element = type.getElementType();
  if (type.getRank() != 0 || !(element.isInteger(64) || element.isInteger(32) || element.isF64() ||
                               element.isF32())) // persistent_c3
    return op.emitOpError("holds a control in ")
           << type << ", which is no scalar of type i64, i32, f64 or f32";
  return success();
}

static bool isIndexScalar(Type type) {
  auto buffer = cast<MemRefType>(type);
  return buffer.getRank() == 0 && buffer.getElementType().isInteger(64);
}

LogicalResult PersistentOp::verify() {
  if (auto arg = dyn_cast<nn::ArgAttr>(getBinding()))
    return arg.getKind() == nn::ArgKind::control ? verifyControl(*this, arg) : success();
  if (auto result = dyn_cast<nn::ResultAttr>(getBinding()))
    if (result.getKind() == nn::ResultKind::metric || result.getKind() == nn::ResultKind::output)
      return success();
  if (isa<dist::StorageAttr>(getBinding()))
    return success();
  if (isa<CoordinateAttr>(getBinding())) {
    if (isIndexScalar(getType())) // persistent_c3
      return success();
    return emitOpError("holds a coordinate in ") << getType() << ", not in memref<i64>";
  }
  return emitOpError("is bound to ") // persistent_c1
         << getBinding() << ", which is no state, input, control, metric or output";
}

SmallVector<nn::ArgAttr> dpc::exec::getBoundArgs(PersistentOp persistent) {
  if (auto arg = dyn_cast<nn::ArgAttr>(persistent.getBinding()))
    return {arg};
  SmallVector<nn::ArgAttr> args;
  if (auto storage = dyn_cast<dist::StorageAttr>(persistent.getBinding()))
    for (dist::MemberAttr member : storage.getMembers())
      args.push_back(cast<nn::ArgAttr>(member.getBinding()));
  return args;
}

std::string dpc::exec::nameOfBinding(PersistentOp persistent) {
  const SmallVector<nn::ArgAttr> args = getBoundArgs(persistent);
  if (!args.empty())
    return args[0].getName().str() +
           (args.size() > 1 ? " and " + std::to_string(args.size() - 1) + " more" : "");
  auto result = dyn_cast<nn::ResultAttr>(persistent.getBinding());
  return result ? result.getName().str() : "";
}

LogicalResult EntryOp::verify() {
  if (getSymName() != "step" && getSymName() != "eval" && getSymName() != "infer") // entry_c1
    return emitOpError("is named ") << getSymName() << "; known: step, eval, infer";
  WalkResult walked = walk([](Operation *start) {
    if (!isStart(start) || start->hasOneUse())
      return WalkResult::advance();
    start->emitOpError("is waited for ") // entry_c2
        << range_size(start->getUses()) << " times, not once";
    return WalkResult::interrupt();
  });
  return failure(walked.wasInterrupted());
}

LogicalResult FunctionOp::verify() {
  for (Operation &op : getBodyBlock())
    if (!isa<LaunchOp, CopyOp, MicrobatchOp>(op) && !namesMemory(&op)) // function_c1
      return emitOpError("holds ") << op.getName() << ", which is not part of a computation";
  return success();
}

LogicalResult RoutineOp::verify() {
  for (Operation &op : getBodyBlock())
    if (isa<LoopOp, RunOp>(op)) // routine_c2
      return emitOpError("holds ") << op.getName();
  return success();
}

LogicalResult RoutineOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<EntryOp>(*this, getEntryAttr()))
    return emitOpError("belongs to ") // routine_c1
           << getEntryAttr() << ", which is no exec.entry";
  return success();
}

LogicalResult FrameOp::verify() {
  if (int64_t(getNumber()) < 0) // frame_c1
    return emitOpError("has the number ") << int64_t(getNumber()) << ", which is negative";
  return success();
}

LogicalResult RunOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto routine = symbols.lookupNearestSymbolFrom<RoutineOp>(*this, getRoutineAttr());
  if (!routine || routine.getFrames() != getFrames().size()) // run_c1
    return emitOpError("passes ") << getFrames().size() << " frames to " << getRoutineAttr()
                                  << ", which takes "
                                  << (routine ? int64_t(routine.getFrames()) : 0);
  if (getMicro() >= routine.getCount()) // run_c2
    return emitOpError("is for microbatch ") << getMicro() << " of " << routine.getCount();
  for (Value buffer : getFrames())
    if (Place place = placeOf(buffer, symbols); place.stride || place.shardAxes) // run_c4
      return emitOpError("passes a slice of a microbatch or of a rank");
  for (auto frame : routine.getBodyBlock().getOps<FrameOp>()) {
    Value buffer = getFrames()[frame.getNumber()];
    Operation *root = placeOf(buffer, symbols).root;
    if (spaceOf(root) != frame.getSpace() ||
        bufferBytes(buffer.getType()) < bufferBytes(frame.getType())) // run_c3
      return emitOpError("passes ") << buffer.getType() << " in " << stringifySpace(spaceOf(root))
                                    << " as frame " << frame.getNumber() << ", " << frame.getType()
                                    << " in " << stringifySpace(frame.getSpace());
  }
  return success();
}

LogicalResult FunctionOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<EntryOp>(*this, getEntryAttr()))
    return emitOpError("belongs to ") // function_c2
           << getEntryAttr() << ", which is no exec.entry";
  return success();
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

LogicalResult GetOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto persistent = symbols.lookupNearestSymbolFrom<PersistentOp>(*this, getPersistentAttr());
  if (!persistent) // get_c1
    return emitOpError("names ") << getPersistentAttr() << ", which is no exec.persistent";
  if (persistent.getType() != getResult().getType()) // get_c1
    return emitOpError("has type ") << getResult().getType() << ", but " << getPersistentAttr()
                                    << " is " << persistent.getType();
  return success();
}

LogicalResult BufferOp::verify() {
  if (std::optional<uint64_t> offset = getOffset())
    if (int64_t(*offset) < 0 || *offset % 64) // buffer_c1
      return emitOpError("lies at byte ") << int64_t(*offset) << ", which is not a multiple of 64";
  if (std::optional<uint64_t> number = getNumber(); number && int64_t(*number) < 0) // buffer_c2
    return emitOpError("has the number ") << int64_t(*number) << ", which is negative";
  return success();
}

LogicalResult ViewOp::verifySymbolUses(SymbolTableCollection &) {
  int64_t offset = getOffset(), bytes = bufferBytes(getResult().getType());
  int64_t places = 1;
  if (getAxes()) {
    auto module = (*this)->getParentOfType<ModuleOp>();
    if (auto mesh = dist::findMesh(module))
      places = dist::groupSize(mesh.getShape(),
                               llvm::to_vector(getAxes()->getAsValueRange<StringAttr>()));
  } else if (auto loop = (*this)->getParentOfType<LoopOp>()) {
    places = loop.getCount();
  } else if (auto routine = (*this)->getParentOfType<RoutineOp>()) {
    places = routine.getCount();
  }
  bytes += (places - 1) * getStride();
  if (offset < 0 || int64_t(getStride()) < 0 ||
      offset + bytes > bufferBytes(getSource().getType())) // view_c1
    return emitOpError("takes bytes ") << offset << " to " << offset + bytes << " of a buffer of "
                                       << bufferBytes(getSource().getType());
  return success();
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

LogicalResult LaunchOp::verifySymbolUses(SymbolTableCollection &symbols) {
  auto kernel = symbols.lookupNearestSymbolFrom<func::FuncOp>(*this, getKernelAttr());
  if (!kernel)
    return emitOpError("names ") << getKernelAttr() << ", which is no kernel";
  SmallVector<Type> inputs, outputs;
  for (Value input : getInputs())
    inputs.push_back(tensorOf(input.getType()));
  for (Value output : getOutputs())
    outputs.push_back(tensorOf(output.getType()));
  auto type = FunctionType::get(getContext(), inputs, outputs);
  if (kernel.getFunctionType() != type) // launch_c1
    return emitOpError("passes buffers of ")
           << type << " to a kernel of " << kernel.getFunctionType();
  int64_t needed = 0, given = 0;
  if (auto bytes = kernel->getAttrOfType<IntegerAttr>(ExecDialect::kScratchBytesAttrName))
    needed = bytes.getInt();
  for (Value scratch : getScratch())
    given += bufferBytes(scratch.getType());
  if (getScratch().size() > 1 || given < needed ||
      (needed == 0 && !getScratch().empty())) // launch_c2
    return emitOpError("passes ") << given << " bytes of scratch in " << getScratch().size()
                                  << " buffers to a kernel that needs " << needed;
  return success();
}

LogicalResult MicrobatchOp::verify() {
  if (!isIndexScalar(getOutput().getType())) // microbatch_c1
    return emitOpError("writes to ") << getOutput().getType() << ", not to memref<i64>";
  return success();
}

LogicalResult StartOp::verify() {
  auto input = cast<MemRefType>(getInput().getType());
  auto output = cast<MemRefType>(getOutput().getType());
  if (input.getElementType() != output.getElementType()) // start_c1
    return emitOpError("reads ") << input << " but writes " << output;
  if (std::optional<ArrayRef<int64_t>> members = getMembers())
    if (getAxes().size() != 1 || members->size() < 2 || members->front() < 0 || // start_c4
        std::adjacent_find(members->begin(), members->end(), std::greater_equal<int64_t>()) !=
            members->end())
      return emitOpError("is for the coordinates ") << *members << " on " << getAxes();
  return success();
}

LogicalResult StartOp::verifySymbolUses(SymbolTableCollection &symbols) {
  for (Value buffer : {getInput(), getOutput()}) {
    const Place place = placeOf(buffer, symbols);
    Operation *root = place.root;
    if (root && spaceOf(root) != Space::shared) // start_c2
      return emitOpError("uses a buffer in space ")
             << stringifySpace(spaceOf(root)) << ", which no peer can see";
    ArrayAttr over = place.shardAxes;
    if (over && over != getAxes()) // start_c3
      return emitOpError("goes over ") << getAxes() << " but uses a share over " << over;
  }
  return success();
}

/// Checks the buffer of a message.
static LogicalResult verifyMessage(Operation *op, Value buffer, SymbolTableCollection &symbols) {
  const Place place = placeOf(buffer, symbols);
  if (place.root && spaceOf(place.root) != Space::shared) // start_send_c1
    return op->emitOpError("uses a buffer in space ")
           << stringifySpace(spaceOf(place.root)) << ", which no peer can see";
  if (place.shardAxes) // start_send_c2
    return op->emitOpError("uses a share over ") << place.shardAxes;
  return success();
}

LogicalResult StartSendOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyMessage(*this, getBuffer(), symbols);
}

LogicalResult StartRecvOp::verifySymbolUses(SymbolTableCollection &symbols) {
  return verifyMessage(*this, getBuffer(), symbols);
}

LogicalResult ComputeOp::verifySymbolUses(SymbolTableCollection &symbols) {
  if (!symbols.lookupNearestSymbolFrom<FunctionOp>(*this, getCalleeAttr()))
    return emitOpError("names ") // compute_c1
           << getCalleeAttr() << ", which is no exec.function";
  return success();
}

LogicalResult LoopOp::verify() {
  if (int64_t(getCount()) < 1) // loop_c1
    return emitOpError("runs ") << int64_t(getCount()) << " times";
  return success();
}

bool dpc::exec::isStart(Operation *op) { return isa<StartOp, StartSendOp, StartRecvOp>(op); }

bool dpc::exec::namesMemory(Operation *op) { return isa<GetOp, BufferOp, FrameOp, ViewOp>(op); }

Space dpc::exec::spaceOf(Operation *root) {
  if (auto frame = dyn_cast<FrameOp>(root))
    return frame.getSpace();
  if (auto persistent = dyn_cast<PersistentOp>(root))
    return persistent.getSpace();
  return cast<BufferOp>(root).getSpace();
}

std::optional<int64_t> dpc::exec::offsetOf(Operation *root) {
  if (isa<FrameOp>(root))
    return 0;
  if (auto persistent = dyn_cast<PersistentOp>(root))
    return persistent.getOffset();
  return cast<BufferOp>(root).getOffset();
}

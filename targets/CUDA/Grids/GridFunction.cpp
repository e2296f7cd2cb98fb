// Emits a kernel as launches with one entry each, and places the values of the
// kernel in memory.

#include "targets/CUDA/Grids/GridFunction.h"

#include "targets/CUDA/Grids/GridFill.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace dpc;

FailureOr<KernelCode> GridFunction::emit() {
  if (failed(memory.addArguments()))
    return failure();
  const std::vector<Launch> &launches = plan.plan.launches;
  for (auto [ordinal, launch] : llvm::enumerate(launches))
    if (failed(emitLaunch(launch, ordinal)))
      return failure();
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!plan.places.isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      emitCopy(value, result, launches.size());
  if (failed(memory.checkAliases(plan.needs)))
    return failure();
  KernelCode code{plan.needs, {}};
  for (Entry &entry : entries) {
    memory.declareUnaliased(plan.needs, entry.function);
    code.launches.push_back(finish(entry));
  }
  return code;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

/// The alignment of all buffers, and of pieces of scratch memory (MemoryProblem).
static const int64_t kBufferAlignment = 64;

void GridFunction::beginEntry(const Launch &launch) {
  OpBuilder &builder = e.builder;
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  SmallVector<Type> pointers(memory.getBufferCount(), pointer);
  builder.setInsertionPointToEnd(module.getBody());
  std::string name = (symbol + "_" + Twine(entries.size())).str();
  auto function = e.make<LLVM::LLVMFuncOp>(
      name, LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(builder.getContext()), pointers));
  function->setAttr(NVVM::NVVMDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  function->setAttr(NVVM::NVVMDialect::getMaxntidAttrName(),
                    builder.getDenseI32ArrayAttr({static_cast<int32_t>(launch.threads)}));
  if (launch.residentBlocks > 0)
    function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                      builder.getI32IntegerAttr(static_cast<int32_t>(launch.residentBlocks)));
  function.setPassthroughAttr(builder.getStrArrayAttr({"nounwind"}));
  // LLVM joins accesses to neighbours only if it knows their alignment.
  for (unsigned i = 0; i < pointers.size(); ++i)
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(kBufferAlignment));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  entries.push_back({function, launch.blocks, launch.threads, std::nullopt, launch.isLone(),
                     launch.getCopiedBytes()});
  entries.back().ops = opsOf(launch);
  e.beginLaunch(launch, name);
  memory.enter(function);
}

void GridFunction::endEntry() {
  e.endLaunch();
  e.make<LLVM::ReturnOp>(ValueRange());
}

/// The ops that a launch computes (KernelLaunch::ops). The roots come first, then the ops that the
/// loops compute inside their expressions. Constants are left out.
std::string GridFunction::opsOf(const Launch &launch) const {
  llvm::SetVector<Operation *> ops;
  for (const LoopGroup::Stage &stage :
       ArrayRef(launch.group.stages).take_front(launch.phase.isLast() ? SIZE_MAX : 1))
    ops.insert(stage.roots.begin(), stage.roots.end());
  const bool addsParts = launch.kind == Launch::Kind::sums;
  if (launch.sums && !addsParts)
    ops.insert(launch.sums->sums.begin(), launch.sums->sums.end());
  const LoopGroup::Stage &filled = launch.group.stages[0];
  for (size_t next = 0; next < ops.size() && !addsParts; ++next)
    for (Value operand : ops[next]->getOperands())
      if (Operation *op = operand.getDefiningOp(); op && !graph.isMaterialised(operand))
        ops.insert(op);
  SmallVector<std::string> names;
  for (Operation *op : ops) {
    if (op->hasTrait<OpTrait::ConstantLike>())
      continue;
    Value first = op->getNumOperands() > 0 ? op->getOperand(0) : op->getResult(0);
    std::string name;
    llvm::raw_string_ostream stream(name);
    stream << op->getName().stripDialect();
    if (auto rule = dyn_cast<GridFillOpInterface>(op);
        addsParts || (rule && launch.group.isFilled && llvm::is_contained(filled.roots, op) &&
                      !rule.readsOperands(launch.phase)))
      stream << ".parts";
    stream << ":" << getElementTypeOrSelf(first);
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  return llvm::join(names, " ");
}

/// Removes the arguments that an entry does not use, and returns the launch of the
/// entry.
KernelLaunch GridFunction::finish(Entry &entry) {
  Block &block = entry.function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  KernelLaunch launch;
  launch.suffix = entry.function.getSymName().drop_front(symbol.size()).str();
  launch.blocks = entry.blocks;
  launch.threads = entry.threads;
  launch.call = entry.call;
  launch.isLone = entry.isLone;
  launch.sharedBytes = entry.sharedBytes;
  launch.ops = entry.ops;
  llvm::BitVector unused(block.getNumArguments());
  SmallVector<Type> types;
  SmallVector<Attribute> attributes;
  for (BlockArgument argument : block.getArguments()) {
    unsigned number = argument.getArgNumber();
    if (argument.use_empty()) {
      unused.set(number);
      continue;
    }
    launch.buffers.push_back(number);
    types.push_back(argument.getType());
    DictionaryAttr attribute = function_interface_impl::getArgAttrDict(entry.function, number);
    attributes.push_back(attribute ? attribute : e.builder.getDictionaryAttr({}));
  }
  // Erase the arguments of the block, because eraseArguments of the function does
  // not support functions without results.
  block.eraseArguments(unused);
  Type nothing = LLVM::LLVMVoidType::get(entry.function.getContext());
  entry.function.setFunctionType(LLVM::LLVMFunctionType::get(nothing, types));
  entry.function.setArgAttrsAttr(e.builder.getArrayAttr(attributes));
  return launch;
}

LogicalResult GridFunction::emitLaunch(const Launch &launch, unsigned ordinal) {
  const GridPlan::Memory &own = plan.memories[ordinal];
  beginEntry(launch);
  for (Value value : own.placed)
    placeValue(value, launch);
  if (launch.phase.count > 1 || launch.sums)
    e.phaseScratch = memory.addressOf(own.handedOn);
  // The last launch of a fill rule computes the ops that use elements of the
  // result.
  LoopGroup group = launch.group;
  if (!launch.phase.isLast())
    group.stages.truncate(1);
  LogicalResult emitted = success();
  if (launch.kind == Launch::Kind::sums)
    e.emitSums(ordinal);
  else if (launch.kind == Launch::Kind::joint)
    emitted = e.emitJoint(ordinal);
  else
    emitted = e.emitGroup(group, ordinal);
  endEntry();
  if (launch.call)
    entries.back().call = placeCall(*launch.call, own.workspace);
  return emitted;
}

void GridFunction::placeValue(Value value, const Launch &launch) {
  const KernelPlaces::Place &place = *plan.places.find(value);
  if (place.kind == KernelPlaces::Place::Kind::shared)
    e.setBuffer(value, {e.allocateShared(tensorBytes(value.getType()) / launch.group.rows.count),
                        KernelPlaces::storageType(value), place.rowElements});
  else
    memory.add(value);
}

/// Replaces the values in the buffers of a planned library call by their positions in the
/// kernel's buffers. All of these values must have positions already. `workspace` is the
/// scratch memory of the library.
LibraryCall GridFunction::placeCall(const PlannedCall &call, const ScratchPiece &workspace) {
  LibraryCall placed{call.kind, call.description, {}};
  for (Value value : call.buffers) {
    const KernelMemory::Location place = value ? memory.locate(value) : memory.locate(workspace);
    placed.buffers.push_back({place.buffer, place.offset});
    if (!value)
      placed.buffers.back().bytes = workspace.bytes;
  }
  return placed;
}

void GridFunction::emitCopy(Value value, unsigned result, unsigned ordinal) {
  const Launch copy = copyLaunch(value);
  beginEntry(copy);
  e.emitCopy(value, memory.resultBuffer(result), ordinal);
  endEntry();
}

// Writes a kernel as launches, with one entry per launch, and places their values
// in memory.

#include "targets/CUDA/Grids/GridFunction.h"

#include "targets/CUDA/Grids/GridFill.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;

FailureOr<KernelCode> GridFunction::emit() {
  const LoopPlan loops = planLoops(graph);
  if (llvm::Error error = loops.verify(graph))
    return emitError(e.loc, "loops: ") << llvm::toString(std::move(error)), failure();
  const LaunchPlan plan = planLaunches(graph, loops, options);
  if (llvm::Error error = plan.verify(graph))
    return emitError(e.loc, "launches: ") << llvm::toString(std::move(error)), failure();
  if (failed(memory.placeArguments()))
    return failure();
  lastLaunch = findLastReaders(
      graph, llvm::map_range(plan.launches, [](const Launch &launch) -> const LoopGroup & {
        return launch.group;
      }));
  for (auto [ordinal, launch] : llvm::enumerate(plan.launches))
    if (failed(emitLaunch(launch, ordinal)))
      return failure();
  for (auto [result, value] : llvm::enumerate(graph.getYielded()))
    if (!memory.isStoredIn(value, result) && nn::typeOf(value).getNumElements() > 0)
      emitCopy(value, result, plan.launches.size());
  KernelCode code;
  memory.findAliases(code);
  for (Entry &entry : entries) {
    memory.declareUnaliased(code, entry.function);
    code.launches.push_back(finish(entry));
  }
  code.scratchBytes = memory.getScratchBytes();
  return code;
}

//===----------------------------------------------------------------------===//
// Entries
//===----------------------------------------------------------------------===//

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
  function.setPassthroughAttr(builder.getStrArrayAttr({"nounwind"}));
  builder.setInsertionPointToStart(function.addEntryBlock(builder));
  entries.push_back({function, launch.blocks, launch.threads, std::nullopt, launch.isLone()});
  e.beginLaunch(launch, name);
  memory.enter(function);
}

void GridFunction::endEntry() {
  e.endLaunch();
  e.make<LLVM::ReturnOp>(ValueRange());
}

/// The arguments of an entry are only the buffers that it uses.
KernelLaunch GridFunction::finish(Entry &entry) {
  Block &block = entry.function.getBody().front();
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  KernelLaunch launch;
  launch.suffix = entry.function.getSymName().drop_front(symbol.size()).str();
  launch.blocks = entry.blocks;
  launch.threads = entry.threads;
  launch.product = entry.product;
  launch.isLone = entry.isLone;
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
  // eraseArguments of the interface does not support functions without results.
  block.eraseArguments(unused);
  Type nothing = LLVM::LLVMVoidType::get(entry.function.getContext());
  entry.function.setFunctionType(LLVM::LLVMFunctionType::get(nothing, types));
  entry.function.setArgAttrsAttr(e.builder.getArrayAttr(attributes));
  return launch;
}

LogicalResult GridFunction::emitLaunch(const Launch &launch, unsigned ordinal) {
  memory.startGroup(ordinal);
  beginEntry(launch);
  for (Operation *root : launch.group.getRoots())
    for (Value value : root->getResults())
      placeValue(value, launch, ordinal);
  if (launch.phase.count > 1) {
    auto rule = cast<GridFillOpInterface>(launch.group.stages[0].roots[0]);
    if (launch.phase.number == 0)
      handedOn = memory.reserve(rule.getScratchBytes(), ordinal + launch.phase.count - 1);
    e.phaseScratch = memory.addressOf(handedOn);
  }
  // Ops that use the elements of the filled op are emitted in its last launch.
  LoopGroup group = launch.group;
  if (!launch.phase.isLast())
    group.stages.truncate(1);
  LogicalResult emitted = e.emitGroup(group, ordinal);
  endEntry();
  if (launch.product)
    entries.back().product = placeProduct(*launch.product, ordinal);
  return emitted;
}

/// Places a value that `launch` makes, if it needs a place and has none yet.
void GridFunction::placeValue(Value value, const Launch &launch, unsigned ordinal) {
  if (memory.isResult(value))
    return;
  unsigned last = lastLaunch.lookup(value);
  // For values, the launches of a fill rule count as one.
  const unsigned end = ordinal + launch.phase.count - 1 - launch.phase.number;
  int64_t rows = launch.group.rows, rowElements = nn::typeOf(value).getNumElements() / rows;
  bool isLocal = last <= end;
  // A value that is used where it is made stays in registers.
  if (isLocal && ((rows > 1 && rowElements == 1) ||
                  (launch.kind == Launch::Kind::tiles && launch.group.stages.size() > 1)))
    e.registerValues.insert(value);
  else if (launch.phase.number > 0)
    return; // an earlier launch of the rule has placed it
  else if (llvm::is_contained(launch.shared, value))
    e.setBuffer(value, {e.allocateShared(tensorBytes(value.getType()) / rows),
                        KernelMemory::storageType(value), rowElements});
  else
    memory.placeInScratch(value, /*rowElements=*/0, std::max(end, last));
}

/// Gives the matrices of a product their buffers and offsets. All of them have been
/// placed.
LibraryProduct GridFunction::placeProduct(const PlannedProduct &product, unsigned ordinal) {
  // The workspace that NVIDIA advises for a Hopper. It is smaller if splitting a
  // sum over blocks could not use it. kAlignment is for aligning its address.
  const int64_t kMostBytes = int64_t(32) << 20, kParts = 8, kAlignment = 256;
  const MatrixFactors &factors = product.factors;
  auto at = [&](Value value, const TensorMatrix &matrix) {
    KernelMemory::Location place = memory.locate(value);
    return MatrixInBuffer{place.buffer, place.offset, matrix.stride,
                          factors.batches > 1 ? matrix.batchStride : 0, matrix.isTransposed};
  };
  const TensorMatrix dense{nullptr, factors.columns, factors.rows * factors.columns, false};
  LibraryProduct made;
  made.elementType = factors.elementType;
  made.tf32 = e.usesTf32 && factors.elementType.isF32();
  made.batches = factors.batches;
  made.rows = factors.rows;
  made.columns = factors.columns;
  made.depth = factors.depth;
  made.a = at(factors.a.tensor, factors.a);
  made.b = at(factors.b.tensor, factors.b);
  made.d = at(product.result, dense);
  made.epilogue = product.epilogue;
  if (product.epilogue == LibraryProduct::Epilogue::add)
    made.addend = at(product.addend, dense);
  else if (product.epilogue == LibraryProduct::Epilogue::bias)
    made.addend = at(product.addend, {nullptr, factors.columns, 0, false});
  made.workspaceBytes =
      std::min(kMostBytes, kParts * tensorBytes(product.result.getType())) + kAlignment;
  KernelMemory::Location workspace = memory.reserve(made.workspaceBytes, ordinal);
  made.workspace = {workspace.buffer, workspace.offset};
  return made;
}

void GridFunction::emitCopy(Value value, unsigned result, unsigned ordinal) {
  Launch copy;
  int64_t count = nn::typeOf(value).getNumElements();
  copy.threads = LaunchPlan::kMaxThreads;
  copy.blocks = (count + copy.threads - 1) / copy.threads;
  beginEntry(copy);
  e.emitCopy(value, memory.resultBuffer(result), ordinal);
  endEntry();
}

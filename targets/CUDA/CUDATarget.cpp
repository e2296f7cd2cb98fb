// The target `cuda`: its processors and rates, the forms of ops in its kernels, and
// the generation of kernels.

#include "targets/CUDA/CUDATarget.h"

#include "dialects/NN/IR/Attention.h"
#include "dialects/NN/IR/Normalization.h"
#include "targets/CUDA/Assemble.h"
#include "targets/CUDA/Grids/GridFill.h"
#include "targets/CUDA/Grids/GridFunction.h"
#include "targets/CUDA/Ops/Ops.h"
#include "targets/Loops/Kernels/LoopTarget.h"
#include "targets/Loops/Rules.h"
#include "targets/Objects/CompileObjects.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"

using namespace mlir;
using namespace dpc;

namespace {

class CUDATarget : public LoopTarget {
public:
  StringRef getName() const override { return "cuda"; }

  ArrayRef<StringRef> getProcessors() const override {
    static const StringRef processors[] = {"sm_80", "sm_90"};
    return processors;
  }

  // The rates are those of an H100 or H200; f32 has no tensor cores. The connection is NVLink.
  Topology getTopology(StringRef) const override {
    Device device;
    device.memoryBytesPerSecond = 3e12;
    device.flopsPerSecond = {/*f64=*/3e13, /*f32=*/5e13, /*tf32=*/2.5e14, /*bf16=*/5e14,
                             /*f16=*/5e14};
    device.launchSeconds = 3e-6;
    return makeFlatTopology("NVLink", device, /*bytesPerSecond=*/3e11, /*startSeconds=*/1e-5);
  }
  Transport getTransport() const override { return Transport::nccl; }

  // On a device, storing and loading an element takes as long as many operations.
  ElementCosts getElementCosts() const override {
    ElementCosts costs;
    costs.storeAndLoad = 16;
    costs.longElement = 32;
    return costs;
  }

  // A grid fill rule that pays computes the results of its op. The form is `tiles` if
  // other ops can use each element while it is in a register, and `whole` if they cannot.
  // An op without a grid fill rule that pays gets its element rule, even if it has a fill
  // rule too, because each thread can then compute one element.
  OpForm getForm(Operation *op) const override {
    if (GridFillOpInterface rule = payingGridFill(op))
      return rule.givesFinalElements() ? OpForm::tiles : OpForm::whole;
    return isa<ElementOpInterface>(op) ? OpForm::elements : LoopTarget::getForm(op);
  }

  SmallVector<Value> decompose(Operation *op, OpBuilder &builder) const override {
    if (auto norm = dyn_cast<nn::NormalizeOp>(op))
      if (std::optional<SmallVector<Value>> results = normalizeInOnePass(norm, builder))
        return *results;
    return LoopTarget::decompose(op, builder);
  }

  // A block of threads adds up the elements of its rows, and a second launch adds up the blocks.
  bool sumsColumns(Operation *reduction) const override {
    return asColumnSum(reduction) && payingGridFill(reduction);
  }

  // One launch runs them side by side.
  int64_t getJoinedKernels() const override { return 64; }

  // Each thread computes its own elements, so a branch costs little.
  bool padsComputedValues() const override { return true; }

  // Sums that keep their order are computed without the fast units, in rows of any length.
  int64_t getProductAlignment(Operation *product, const CodeOptions &options) const override {
    return options.orderedSums ? 1
                               : alignmentOfProduct(cast<nn::DotOp>(product), callOptions(options));
  }

  // The tiles of these ops compute the address of each piece of a row from its position.
  bool readsPartsInPlace(Operation *op) const override {
    return isa<nn::AttentionOp, nn::AttentionGradOp>(op) && payingGridFill(op);
  }

  LibraryWork getLibraryWork(Operation *op, const CodeOptions &options) const override {
    const bool isTiled = !options.orderedSums && payingGridFill(op);
    return isTiled ? libraryWorkOf(op, callOptions(options)) : LibraryWork::none;
  }

  bool wantsNarrowAddend(Operation *product, const CodeOptions &options) const override {
    return !options.orderedSums &&
           dpc::wantsNarrowAddend(cast<nn::DotOp>(product), callOptions(options));
  }

  bool prefersNarrowSums(Operation *op, const CodeOptions &options) const override {
    return !options.orderedSums && payingGridFill(op) && needsNarrowSums(op, callOptions(options));
  }

  // Sums that keep their order have the taps of one channel together, so only the spatial
  // dimensions have runs. Convolutions without tiles are no library's.
  ChannelOrder getChannelOrder(Operation *op, const CodeOptions &options) const override {
    if (options.orderedSums)
      return ChannelOrder::second;
    return payingGridFill(op) ? channelOrderOf(op, callOptions(options)) : ChannelOrder::any;
  }

  FunctionForm getFunctionForm() const override { return FunctionForm::gridTable; }

  HostLevel getHostLevel(const CodeOptions &) const override { return HostLevel::any; }

  void registerDialects(DialectRegistry &registry) const override {
    LoopTarget::registerDialects(registry);
    registry.insert<NVVM::NVVMDialect>();
    registerGridFills(registry);
    registerObjectTranslations(registry);
    registerNVVMDialectTranslation(registry);
  }

  FailureOr<std::vector<KernelObject>> compileKernels(ModuleOp kernels, const CodeOptions &options,
                                                      const ObjectCache *cache) const override {
    ObjectOptions ptx;
    ptx.form = ObjectForm::ptx;
    ptx.processor = options.processor.empty() ? getProcessors().front().str() : options.processor;
    ptx.vectorize = false;
    FailureOr<std::vector<KernelObject>> objects = compileObjects(kernels, ptx, cache);
    if (succeeded(objects) && !options.assembler.empty() &&
        failed(assemble(kernels, *objects, options.assembler, options.assembled, cache)))
      return failure();
    return objects;
  }

protected:
  FailureOr<KernelNeeds> describeGraph(const KernelGraph &graph, Location loc,
                                       const CodeOptions &options) const override {
    FailureOr<GridPlan> plan = planGrids(graph, loc, launchOptions(options));
    if (failed(plan))
      return failure();
    return plan->needs;
  }

  FailureOr<KernelCode> emitGraph(const KernelGraph &graph, Location loc, StringRef symbol,
                                  ModuleOp code, const CodeOptions &options) const override {
    FailureOr<GridPlan> plan = planGrids(graph, loc, launchOptions(options));
    if (failed(plan))
      return failure();
    OpBuilder builder(code.getContext());
    GridEmitter emitter(builder, loc, graph, code);
    emitter.factors = options.factors;
    emitter.roundsToTf32 = options.processor == "sm_90";
    if (options.orderedSums)
      emitter.keepOrder();
    return GridFunction(graph, *plan, emitter, code, symbol).emit();
  }

private:
  static LaunchPlanOptions launchOptions(const CodeOptions &options) {
    // Devices of compute capability 8 have 99 KiB or more for a block, and those of 9 have 227 KiB.
    const int64_t kibibytes = options.processor == "sm_90" ? 227 : 99;
    return {callOptions(options), options.orderedSums, kibibytes * 1024};
  }
  static CallOptions callOptions(const CodeOptions &options) {
    return {options.products, options.factors};
  }
};

} // namespace

void dpc::registerCUDATarget() { registerTarget(std::make_unique<CUDATarget>()); }

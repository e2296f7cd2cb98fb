// The target `cpu`: the rates of x86-64 processors with vectors, the forms of ops in
// kernels, and the generation of kernels.

#include "targets/CPU/CPUTarget.h"

#include "targets/CPU/Ops/Ops.h"
#include "targets/CPU/Vectors/VectorFill.h"
#include "targets/Loops/Kernels/LoopTarget.h"
#include "targets/Objects/CompileObjects.h"

#include "llvm/TargetParser/Host.h"

using namespace mlir;
using namespace dpc;

/// A processor with AVX-512 whose instructions multiply pairs of bf16, e.g. Zen 4.
static const StringRef kBf16Processor = "x86-64-v4-bf16";

static StringRef processorOf(const CodeOptions &options) {
  return options.processor.empty() ? "native" : StringRef(options.processor);
}

/// Whether the processor of this machine has the feature. The list of features is read only
/// once, because on a virtual machine each query of the processor stops the program for some
/// microseconds.
static bool hostHas(StringRef feature) {
  static const llvm::StringMap<bool> features = llvm::sys::getHostCPUFeatures();
  return features.lookup(feature);
}

/// Whether this machine multiplies pairs of bf16 faster than it converts bf16 to f32 and multiplies
/// those. An Intel processor with AVX512_FP16 leaves matrices to AMX: it runs one VDPBF16PS in the
/// time of four FMAs, for twice the work of one (measured, docs/performance/products.md).
static bool hostMultipliesPairsFast() {
  return hostHas("avx512bf16") && !(__builtin_cpu_is("intel") && hostHas("avx512fp16"));
}

/// The level of x86-64 of the processor that `options` names. No level includes AVX512_BF16, so
/// dpc has a name of its own for v4 with it. On this machine, the instructions of this level are
/// used only if they are fast.
static HostLevel levelOf(const CodeOptions &options) {
  StringRef name = processorOf(options);
  if (name == "native" && hostHas("avx512f"))
    return hostMultipliesPairsFast() ? HostLevel::v4Bf16 : HostLevel::v4;
  return name == kBf16Processor ? HostLevel::v4Bf16
         : name == "x86-64-v4"  ? HostLevel::v4
                                : HostLevel::v3;
}

/// The vector unit of the processor that `options` names.
static VectorUnit unitOf(const CodeOptions &options) {
  HostLevel level = levelOf(options);
  return {level == HostLevel::v3 ? 32u : 64u, level == HostLevel::v4Bf16};
}

namespace {
class CPUTarget : public HostLoopTarget {
public:
  StringRef getName() const override { return "cpu"; }

  ArrayRef<StringRef> getProcessors() const override {
    static const StringRef processors[] = {"native", "x86-64-v3", "x86-64-v4", kBf16Processor};
    return processors;
  }

  // The rates are those of one core.
  Topology getTopology(StringRef) const override {
    Device device;
    device.memoryBytesPerSecond = 2e10;
    device.flopsPerSecond = {/*f64=*/5e10, /*f32=*/1e11, /*tf32=*/0, /*bf16=*/1e11, /*f16=*/1e11};
    return makeFlatTopology("shared memory", device, /*bytesPerSecond=*/3e9,
                            /*startSeconds=*/5e-6);
  }

  FunctionForm getFunctionForm() const override { return FunctionForm::hostCode; }

  HostLevel getHostLevel(const CodeOptions &options) const override { return levelOf(options); }

  void registerDialects(DialectRegistry &registry) const override {
    LoopTarget::registerDialects(registry);
    registerVectorFills(registry);
    registerObjectTranslations(registry);
  }

  OpForm getForm(Operation *op) const override {
    auto rule = dyn_cast<VectorFillOpInterface>(op);
    if (rule && rule.pays())
      return rule.makesTiles() ? OpForm::tiles : OpForm::whole;
    return LoopTarget::getForm(op);
  }

  FailureOr<std::vector<KernelObject>> compileKernels(ModuleOp kernels, const CodeOptions &options,
                                                      const ObjectCache *cache) const override {
    StringRef name = processorOf(options);
    if (name == kBf16Processor)
      return compileObjects(kernels, {"x86-64-v4", /*vectorize=*/true, "+avx512bf16"}, cache);
    return compileObjects(kernels, {name.str(), /*vectorize=*/true}, cache);
  }

protected:
  std::unique_ptr<KernelEmitter> createEmitter(OpBuilder &builder, Location loc,
                                               const KernelGraph &graph,
                                               const CodeOptions &options) const override {
    return std::make_unique<VectorEmitter>(builder, loc, graph, unitOf(options));
  }

  std::unique_ptr<AccessWalk> createWalk(const KernelGraph &graph, const KernelPlaces &places,
                                         const CodeOptions &options) const override {
    return std::make_unique<VectorWalk>(graph, places, options.orderedSums, unitOf(options));
  }

  SmallVector<int64_t> getScratch(Operation *op, const KernelPlaces &places,
                                  const CodeOptions &options) const override {
    auto rule = dyn_cast<VectorFillOpInterface>(op);
    if (!rule || !rule.pays())
      return HostLoopTarget::getScratch(op, places, options);
    auto isInMemory = [&](Value value) { return places.isInMemory(value); };
    return rule.getScratch({unitOf(options), isInMemory});
  }

  SmallVector<Attribute> getAttributes(Builder &builder,
                                       const CodeOptions &options) const override {
    // Without this attribute, LLVM uses vectors of half the width for many processors with
    // AVX-512.
    return {builder.getStrArrayAttr(
        {"prefer-vector-width", std::to_string(unitOf(options).vectorBytes * 8)})};
  }
};
} // namespace

void dpc::registerCPUTarget() { registerTarget(std::make_unique<CPUTarget>()); }

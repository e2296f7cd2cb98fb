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

/// The bytes of a vector: 64 if the processor has AVX-512, otherwise 32.
static unsigned vectorBytesOf(const CodeOptions &options) {
  if (processorOf(options) == "native")
    return hostHas("avx512f") ? 64 : 32;
  return processorOf(options) == "x86-64-v4" ? 64 : 32;
}

/// The vector unit of the processor that `options` names. It multiplies bf16 only if the
/// processor is `native` and has AVX512_BF16, which no level of x86-64 includes.
static VectorUnit unitOf(const CodeOptions &options) {
  unsigned bytes = vectorBytesOf(options);
  return {bytes, processorOf(options) == "native" && bytes == 64 && hostHas("avx512bf16")};
}

namespace {
class CPUTarget : public HostLoopTarget {
public:
  StringRef getName() const override { return "cpu"; }

  ArrayRef<StringRef> getProcessors() const override {
    static const StringRef processors[] = {"native", "x86-64-v3", "x86-64-v4"};
    return processors;
  }

  // The rates are those of one core. The link is shared memory.
  Device getDevice(StringRef) const override { return {1e11, 2e10}; }
  Link getLink() const override { return {3e9, 5e-6}; }

  FunctionForm getFunctionForm() const override { return FunctionForm::hostCode; }

  HostLevel getHostLevel(const CodeOptions &options) const override {
    return vectorBytesOf(options) == 64 ? HostLevel::v4 : HostLevel::v3;
  }

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
    return compileObjects(kernels, {processorOf(options).str(), /*vectorize=*/true}, cache);
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
        {"prefer-vector-width", std::to_string(vectorBytesOf(options) * 8)})};
  }
};
} // namespace

void dpc::registerCPUTarget() { registerTarget(std::make_unique<CPUTarget>()); }

// The target `scalar`: plain loops without vectors. The loops run in an order that
// exposes rules which rely on the usual order.

#include "targets/Scalar/ScalarTarget.h"

#include "targets/Loops/Kernels/LoopTarget.h"
#include "targets/Objects/CompileObjects.h"

using namespace mlir;
using namespace dpc;

namespace {

/// Rules must not rely on the order in which the iterations of LoopEmitter::forEach and
/// LoopEmitter::reduce run, because a device with many threads runs them in any order.
/// This emitter runs them in an unusual order, so a rule that relies on an order computes
/// wrong results here.
class ScalarEmitter : public KernelEmitter {
public:
  using KernelEmitter::KernelEmitter;

  /// Runs the iterations in reverse order.
  void forEach(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Index>)> body, Lanes) override {
    LoopEmitter::forEach(shape, [&](ArrayRef<Index> rounds) {
      SmallVector<Index> index;
      for (auto [round, extent] : llvm::zip_equal(rounds, shape))
        index.push_back(asVariable(constant(extent - 1) - round));
      body(index);
    });
  }

  /// Reduces each half of the first dimension, and combines both results.
  Values reduce(ArrayRef<int64_t> shape, ValueRange identity,
                function_ref<Values(ArrayRef<Index>, ValueRange)> accumulate,
                function_ref<Values(ValueRange, ValueRange)> combine) override {
    if (shape.empty() || shape[0] < 2)
      return loop(shape, identity, accumulate);
    int64_t half = shape[0] / 2;
    auto part = [&](int64_t first, int64_t count) {
      SmallVector<int64_t> extents(shape);
      extents[0] = count;
      return loop(extents, identity, [&](ArrayRef<Index> index, ValueRange carried) {
        SmallVector<Index> all(index);
        all[0] = asVariable(all[0] + first);
        return accumulate(all, carried);
      });
    };
    Values early = part(0, half), late = part(half, shape[0] - half);
    return combine(early, late);
  }

private:
  /// A variable that has the value and the range of `index`. Rules and loop plans
  /// expect that the index of a loop is a variable, because they simplify
  /// expressions of variables.
  Index asVariable(Index index) {
    if (isa<AffineConstantExpr>(index))
      return index;
    Range range = rangeOf(index);
    return bind(materialize(index), range.first, range.second);
  }
};

/// Visits the memory accesses of the loops that ScalarEmitter emits (AccessWalk).
class ScalarWalk : public AccessWalk {
public:
  using AccessWalk::AccessWalk;

  void inLoops(ArrayRef<int64_t> shape, Body body) override {
    if (shape.empty() || shape[0] < 2)
      return AccessWalk::inLoops(shape, body);
    int64_t half = shape[0] / 2;
    auto part = [&](int64_t first, int64_t count) {
      SmallVector<int64_t> extents(shape);
      extents[0] = count;
      loops(extents, [&](ArrayRef<Index> index) {
        SmallVector<Index> all(index);
        all[0] = all[0] + first;
        if (!isa<AffineConstantExpr>(all[0]))
          all[0] = asVariable(all[0], first, first + count - 1);
        body(all);
      });
    };
    part(0, half);
    part(half, shape[0] - half);
  }
};

class ScalarTarget : public HostLoopTarget {
public:
  StringRef getName() const override { return "scalar"; }

  ArrayRef<StringRef> getProcessors() const override {
    static const StringRef processors[] = {"x86-64"};
    return processors;
  }

  // The rates are those of one core that computes one element at a time.
  Topology getTopology(StringRef) const override {
    Device device;
    device.memoryBytesPerSecond = 5e9;
    device.flopsPerSecond = {/*f64=*/2e9, /*f32=*/2e9, /*tf32=*/0, /*bf16=*/2e9, /*f16=*/2e9};
    return makeFlatTopology("shared memory", device, /*bytesPerSecond=*/5e9,
                            /*startSeconds=*/5e-6);
  }

  // Kernels are host code, but functions are tables of launches, so that only the
  // queue accesses the memory.
  FunctionForm getFunctionForm() const override { return FunctionForm::launchTable; }

  HostLevel getHostLevel(const CodeOptions &) const override { return HostLevel::any; }

  void registerDialects(DialectRegistry &registry) const override {
    LoopTarget::registerDialects(registry);
    registerObjectTranslations(registry);
  }

  FailureOr<std::vector<KernelObject>> compileKernels(ModuleOp kernels, const CodeOptions &,
                                                      const ObjectCache *cache) const override {
    return compileObjects(kernels, {getProcessors().front().str(), /*vectorize=*/false}, cache);
  }

protected:
  std::unique_ptr<KernelEmitter> createEmitter(OpBuilder &builder, Location loc,
                                               const KernelGraph &graph,
                                               const CodeOptions &) const override {
    return std::make_unique<ScalarEmitter>(builder, loc, graph);
  }

  std::unique_ptr<AccessWalk> createWalk(const KernelGraph &graph, const KernelPlaces &places,
                                         const CodeOptions &options) const override {
    return std::make_unique<ScalarWalk>(graph, places, options.orderedSums);
  }
};

} // namespace

void dpc::registerScalarTarget() { registerTarget(std::make_unique<ScalarTarget>()); }

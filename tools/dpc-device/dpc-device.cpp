// Measures a CPU core of this machine with the kernels that dpc generates, and prints it as the
// object `device` of a topology file.
//
//   dpc-device [--ranks=N] [--cpu=NAME]
//
// N ranks compute at the same time (default 1). dpc-run --describe runs this tool.

#include "dialects/NN/IR/Program.h"
#include "passes/Prices/OpPrices.h"
#include "planning/TopologyFile.h"
#include "targets/CPU/CPUTarget.h"
#include "targets/Objects/KernelTimer.h"
#include "tools/common/CommandLine.h"
#include "tools/dpc-device/Samples.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>
#include <unistd.h>

using namespace mlir;
using namespace dpc;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "dpc-device: error: " << message << "\n";
  return exitInvalid;
}

namespace {
/// A sample, its work, and its code.
struct Measured {
  Sample sample;
  Work work;
  TimedKernel kernel;
  double seconds = 0;
};
} // namespace

/// Generates and compiles the code of all samples. Returns false after an error.
static bool compileSamples(MLIRContext &context, const CodeOptions &options,
                           std::vector<Measured> &measured, std::vector<KernelObject> &objects) {
  const Target &target = *findTarget("cpu");
  OwningOpRef<ModuleOp> code = ModuleOp::create(UnknownLoc::get(&context));
  for (auto [number, each] : llvm::enumerate(measured)) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(each.sample.text, &context);
    if (!module)
      return false;
    auto function = *module->getOps<func::FuncOp>().begin();
    Operation &kernel = function.front().front();
    const std::string name = "sample." + std::to_string(number);
    auto own = OpBuilder::atBlockEnd(code->getBody()).create<ModuleOp>(code->getLoc(), name);
    FailureOr<KernelCode> made = target.emitKernel(&kernel, name, own, options);
    if (failed(made))
      return false;
    each.work = workOfKernel(&kernel);
    each.work.kind = each.sample.kind;
    each.kernel.scratchBytes = made->needs.scratchBytes;
    for (TypeRange types :
         {TypeRange(kernel.getOperandTypes()), TypeRange(kernel.getResultTypes())})
      for (Type type : types)
        each.kernel.buffers.push_back({cast<RankedTensorType>(type).getElementType(),
                                       cast<RankedTensorType>(type).getNumElements()});
    each.kernel.limits.assign(each.kernel.buffers.size(), each.sample.rows);
  }
  FailureOr<std::vector<KernelObject>> compiled =
      target.compileKernels(*code, options, /*cache=*/nullptr);
  if (failed(compiled) || compiled->size() != measured.size())
    return false;
  objects = std::move(*compiled);
  for (const KernelObject &object : objects)
    for (auto [number, each] : llvm::enumerate(measured))
      if (object.kernel == "sample." + std::to_string(number))
        each.kernel.object = &object;
  return true;
}

static bool isByFlops(KernelClass kind) {
  return kind == KernelClass::product || kind == KernelClass::convolution ||
         kind == KernelClass::attention;
}

/// The share of `rate` that `each` reaches.
static double shareOf(const Measured &each, double size, double rate) {
  return std::min(1., size / each.seconds / rate);
}

/// Adds a point to `efficiency`. Samples of equal size are one point, the geometric mean. A larger
/// kernel never takes less time.
static void addPoint(Efficiency &efficiency, double size, double share) {
  auto &points = efficiency.points;
  if (!points.empty() && points.back().first == size) {
    share = std::sqrt(share * points.back().second);
    points.pop_back();
  }
  if (!points.empty())
    share =
        std::min(share, Efficiency::highestAfter(points.back().first, points.back().second, size));
  // Three digits, because the others only repeat noise.
  points.push_back({size, std::max(1e-3, std::floor(1e3 * share) / 1e3)});
}

/// The device whose times of the samples are the measured ones: a rate is that of the fastest
/// sample, and each size of a class is a point.
static Device fitDevice(llvm::ArrayRef<Measured> measured) {
  Device device;
  for (const Measured &each : measured) {
    if (isByFlops(each.sample.kind)) {
      double &rate = device.flopsPerSecond[size_t(each.sample.type)];
      rate = std::max(rate, each.work.flops / each.seconds);
    } else {
      device.memoryBytesPerSecond =
          std::max(device.memoryBytesPerSecond, each.work.bytes / each.seconds);
    }
  }
  for (const Measured &each : measured) {
    if (each.sample.type != NumberType::f32)
      continue;
    const auto kind = size_t(each.sample.kind);
    if (isByFlops(each.sample.kind))
      addPoint(device.flopsEfficiency[kind], each.work.flops,
               shareOf(each, each.work.flops, device.rateOf(NumberType::f32)));
    else
      addPoint(device.bytesEfficiency[kind], each.work.bytes,
               shareOf(each, each.work.bytes, device.memoryBytesPerSecond));
  }
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (pages > 0 && page > 0 && cores > 0)
    device.memoryBytes = double(pages) * double(page) / double(cores);
  return device;
}

/// With so many rounds, the measurement takes some ten seconds.
static constexpr unsigned kRounds = 4;

int main(int argc, char **argv) {
  registerCPUTarget();
  unsigned ranks = 1;
  CodeOptions options;
  options.processor = "native";
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    if (argument.consume_front("--ranks=") && !argument.getAsInteger(10, ranks) && ranks > 0)
      continue;
    argument = argv[i];
    if (argument.consume_front("--cpu=") &&
        llvm::is_contained(findTarget("cpu")->getProcessors(), argument)) {
      options.processor = argument.str();
      continue;
    }
    fail("unknown option " + llvm::Twine(argv[i]) + "; known: --ranks=N, --cpu=NAME");
    return exitUsage;
  }
  DialectRegistry registry;
  registry.insert<nn::NNDialect, func::FuncDialect>();
  registerTargetDialects(registry);
  MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::vector<Measured> measured;
  for (Sample &sample : makeSamples())
    measured.push_back({std::move(sample), {}, {}, 0});
  std::vector<KernelObject> objects;
  if (!compileSamples(context, options, measured, objects))
    return fail("the sample kernels do not compile");
  std::vector<TimedKernel> kernels;
  for (const Measured &each : measured)
    kernels.push_back(each.kernel);
  llvm::Expected<std::vector<double>> seconds = timeKernels(kernels, ranks, kRounds);
  if (!seconds)
    return fail(llvm::toString(seconds.takeError()));
  for (auto [each, time] : llvm::zip_equal(measured, *seconds))
    each.seconds = time;
  const Device device = fitDevice(measured);
  if (llvm::Error error = device.check())
    return fail(llvm::toString(std::move(error)));
  llvm::outs() << llvm::formatv("{0:2}", toJson(device)) << "\n";
  return exitDone;
}

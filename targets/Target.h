#ifndef DPC_TARGETS_TARGET_H
#define DPC_TARGETS_TARGET_H

#include "planning/ChannelOrder.h"
#include "planning/FactorForm.h"
#include "planning/LibraryWork.h"
#include "planning/Machine.h"
#include "planning/ProductMaker.h"
#include "targets/LibraryCall.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

class ObjectCache;

/// The way in which a target computes the results of an op in a kernel.
enum class OpForm {
  none,      ///< the op cannot be part of a kernel
  composite, ///< its decomposition computes the results
  elements,  ///< element by element, in the loops of its readers or in loops of its own
  whole,     ///< one piece of code computes all elements, and stores them in a buffer
  tiles      ///< in tiles: each tile is complete before the next tile begins
};

/// The level of x86-64 that code requires of the host's processor.
enum class HostLevel {
  any,
  v3,    ///< AVX2, FMA, BMI, F16C
  v4,    ///< AVX-512 F, BW, CD, DQ, VL
  v4Bf16 ///< those of v4, and AVX512_BF16
};

/// The form of the functions of a program. A function runs a list of kernels.
enum class FunctionForm {
  hostCode,    ///< host code that calls the kernels
  launchTable, ///< a table of launches; the runtime's queue calls the kernels as host code
  gridTable    ///< a table of launches; a CUDA device runs them as grids of threads
};

/// The costs of computing an element or of keeping it in memory. The unit is a simple
/// instruction such as an addition. These costs decide which values a kernel keeps in
/// memory.
struct ElementCosts {
  /// A division or a square root.
  double division = 4;
  /// A math function such as exp, or a division of integers.
  double function = 16;
  /// Storing the element to nearby memory and loading it again.
  double storeAndLoad = 6;
  /// If one element of an op with a loop, e.g. of a reduction, costs more than this, the
  /// result of the op is kept in memory, even if it is read only once.
  double longElement = 96;
};

/// Options of code generation.
struct CodeOptions {
  /// The processor: one of Target::getProcessors. If empty, the first of them.
  std::string processor;
  /// The path of NVIDIA's assembler (ptxas), and the processors for which it makes
  /// machine code. A program then has both PTX and machine code. If `assembler` is
  /// empty, it has only PTX.
  std::string assembler;
  std::vector<std::string> assembled;
  /// Whether each reader of a short expression may compute it again. If not, values
  /// with several readers are kept in memory, unless their op only moves elements. The
  /// bits of results do not depend on this option.
  bool recompute = true;
  /// Whether every sum adds its terms in order. If not set, a sum that only one place in
  /// the code of its kernel computes may add its terms in the fastest order.
  bool orderedSums = false;
  /// How products and convolutions of f32 multiply their factors.
  FactorForm factors = FactorForm::whole;
  /// Whether kernels or a library compute matrix products. If `orderedSums` is set,
  /// only kernels compute them.
  ProductMaker products = ProductMaker::bySize;
};

/// One launch of a grid of threads, on a device whose kernels are grids.
struct KernelLaunch {
  /// The name of the launch's function is the kernel's symbol followed by this suffix.
  std::string suffix;
  int64_t blocks = 1, threads = 1;
  /// The arguments, as indices into the kernel's buffers (Target::emitKernel).
  llvm::SmallVector<unsigned> buffers;
  /// A library call that may compute the results in place of the function. Both compute
  /// the same, except that they may add the terms of sums in another order.
  std::optional<LibraryCall> call;
  /// Bytes of shared memory that a block asks for at the launch, besides those that the function
  /// declares.
  int64_t sharedBytes = 0;
  /// Whether one thread does all the work of the launch. Only reports use it.
  bool isLone = false;
  /// The ops that the launch computes, each with the element type of its first operand, e.g.
  /// "dot:bf16 add:f32". A launch that only adds or combines partial results of an earlier launch
  /// has the op as "dot.parts:bf16". Only reports use them.
  std::string ops;
};

/// The facts about a kernel from which its caller derives the kernel's buffers. The
/// plan of the kernel's loops decides them, before code is generated.
struct KernelNeeds {
  /// Bytes of scratch memory that the kernel needs. The memory must be aligned to 64
  /// bytes.
  int64_t scratchBytes = 0;
  /// For each result, the operands whose buffer it may share, because the kernel never
  /// reads element i of one of these operands after it has written element i of the
  /// result. The caller may choose one of these operands for each result. Two results must
  /// not share one buffer.
  llvm::SmallVector<llvm::SmallVector<unsigned>> mayAlias;

  bool operator==(const KernelNeeds &other) const {
    return scratchBytes == other.scratchBytes && mayAlias == other.mayAlias;
  }
};

/// The facts about the generated code of a kernel that its callers need.
struct KernelCode {
  KernelNeeds needs;
  /// The launches of the kernel in order, if kernels are grids of threads; otherwise
  /// empty.
  std::vector<KernelLaunch> launches;
};

/// Machine code for one kind of device.
struct MachineCode {
  std::string processor;
  std::string bytes;
};

/// Attribute of the module with a kernel's code: a StringAttr that lists the ops of
/// the kernel. The symbols of the compiled code have this text after `dpc_kernel_`, so
/// that profilers show the ops.
inline constexpr llvm::StringLiteral kOpsAttrName = "exec.ops";

/// Attribute of the same module: an array with the text KernelLaunch::ops of each launch, if the
/// kernel has launches.
inline constexpr llvm::StringLiteral kLaunchOpsAttrName = "exec.launch_ops";

/// The compiled code of one kernel.
struct KernelObject {
  /// The name of the kernel in the program.
  std::string kernel;
  /// The name of its function in the object. Kernels with equal code have equal names,
  /// in all programs. The name contains the ops of the kernel (kOpsAttrName).
  std::string symbol;
  /// A position-independent object file, which must be linked with libm, or the text
  /// of PTX.
  std::string object;
  /// The machine code that was assembled from the PTX, for some kinds of devices.
  std::vector<MachineCode> machineCode;
};

/// A kind of device that kernels run on. The other parts of the compiler learn about
/// devices only through this interface. The `main` functions of the tools register the
/// targets.
class Target {
public:
  virtual ~Target() = default;

  /// The name of the target in the option `--target`.
  virtual llvm::StringRef getName() const = 0;

  /// The names of the processors for which the target generates code, as in the option
  /// `--cpu`.
  virtual llvm::ArrayRef<llvm::StringRef> getProcessors() const = 0;

  /// Devices with the processor `processor` and their connections, for machines that no topology
  /// file describes. The numbers may be rough.
  virtual Topology getTopology(llvm::StringRef processor) const = 0;
  /// How the runtime exchanges data between devices of this target.
  virtual Transport getTransport() const { return Transport::wires; }

  /// The costs of elements in kernels of this target. The default fits a processor
  /// with caches.
  virtual ElementCosts getElementCosts() const { return {}; }

  /// The form of the functions of programs for this target.
  virtual FunctionForm getFunctionForm() const = 0;

  /// The level of x86-64 that the host needs to run the host code of a program
  /// generated with `options`.
  virtual HostLevel getHostLevel(const CodeOptions &options) const = 0;

  /// Registers the dialects of the generated code, and attaches the rules for ops
  /// (external models).
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// The form in which the target computes the results of `op` in a kernel.
  virtual OpForm getForm(mlir::Operation *op) const = 0;

  /// Builds ops that compute the results of the composite `op` (DecomposableOpInterface), and
  /// returns their results. A target may choose ops that its kernels compute faster. Up to
  /// rounding, the results are the same.
  virtual llvm::SmallVector<mlir::Value> decompose(mlir::Operation *op,
                                                   mlir::OpBuilder &builder) const = 0;

  /// Whether a kernel's loops over rows can compute the result of `reduction` and then ops that
  /// read it, although a row is not consecutive in memory. An example is the sum over a channel
  /// of a batch.
  virtual bool sharesSplitRows(mlir::Operation *reduction) const { return false; }

  /// Whether `reduction` sums the rows of its operand, column by column, and a kernel whose loops
  /// run over the operand can do so beside its own results, while it has each element in a
  /// register. An example is the gradient of a bias.
  virtual bool sumsColumns(mlir::Operation *reduction) const { return false; }

  /// The most kernels that the target computes faster as one kernel, if each has few elements and
  /// none needs another. 1 if a kernel has no cost of its own.
  virtual int64_t getJoinedKernels() const { return 1; }

  /// Whether a kernel that computes a value can also pad it without a loss of speed. A kernel then
  /// decides for each element of the result whether it computes the element.
  virtual bool padsComputedValues() const { return false; }

  /// Returns the number n of elements such that rows of a multiple of n elements let the target
  /// multiply the matrices of `product`, an nn.dot, fast. Returns 1 if any length is as good.
  virtual int64_t getProductAlignment(mlir::Operation *product, const CodeOptions &options) const {
    return 1;
  }

  /// Whether `op` can read a part of a tensor (nn.slice) in the tensor, as fast as it reads a copy.
  virtual bool readsPartsInPlace(mlir::Operation *op) const { return false; }

  /// What a library computes of `op` and of the ops that follow it. Whatever else is computed from
  /// the result of `op` then costs a launch of its own.
  virtual LibraryWork getLibraryWork(mlir::Operation *op, const CodeOptions &options) const {
    return LibraryWork::none;
  }

  /// Whether a library computes `product`, an nn.dot of 16-bit factors, and can add a bias of the
  /// product's type to it.
  virtual bool wantsNarrowAddend(mlir::Operation *product, const CodeOptions &options) const {
    return false;
  }

  /// Whether `op`, which sums products of 16-bit factors to a wider result, becomes much faster if
  /// its result has 16 bits too.
  virtual bool prefersNarrowSums(mlir::Operation *op, const CodeOptions &options) const {
    return false;
  }

  /// The order of the tensors of `op`, a convolution or a gradient of one, that makes it fast.
  virtual ChannelOrder getChannelOrder(mlir::Operation *op, const CodeOptions &options) const {
    return ChannelOrder::second;
  }

  /// Computes the needs of the code that `emitKernel` generates for `op` with
  /// `options`, without generating code. Fails with an error if `emitKernel` would
  /// fail.
  virtual mlir::FailureOr<KernelNeeds> describeKernel(mlir::Operation *op,
                                                      const CodeOptions &options) const = 0;

  /// Generates code for `op`, an `nn.kernel` or `nn.update`. Adds to `code` a function
  /// that in C is `void symbol(char *const *buffers)`, or one function per launch.
  /// `buffers` points to the buffers of the operands (including scalars), followed by
  /// those of the results and one of scratch memory. Buffers are dense and in
  /// row-major order, and an i1 takes one byte. Buffers do not overlap, except as
  /// `mayAlias` allows. Fails with an error on an op for which the target has no rule,
  /// and on an op whose code has other needs than `describeKernel` says.
  virtual mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op, llvm::StringRef symbol,
                                                 mlir::ModuleOp code,
                                                 const CodeOptions &options) const = 0;

  /// Compiles each module nested in `kernels`; this lowers the modules in place. Each
  /// module has the name of its kernel and contains the functions that `emitKernel`
  /// added. Uses as many threads as the MLIRContext has. If `cache` is not null, takes
  /// objects from the cache and adds new objects to it.
  virtual mlir::FailureOr<std::vector<KernelObject>>
  compileKernels(mlir::ModuleOp kernels, const CodeOptions &options,
                 const ObjectCache *cache) const = 0;
};

/// Adds a target to those that `findTarget` and `getTargets` return in this process.
void registerTarget(std::unique_ptr<Target> target);
/// The target with the name `name`, or null.
const Target *findTarget(llvm::StringRef name);
/// The registered targets, in the order of registration.
std::vector<const Target *> getTargets();
/// Calls Target::registerDialects of all targets.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_TARGETS_TARGET_H

#ifndef DPC_TARGETS_TARGET_H
#define DPC_TARGETS_TARGET_H

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

/// The way in which a target makes the results of an op in a kernel.
enum class OpForm {
  none,      ///< no form: the op cannot be part of a kernel
  composite, ///< as its decomposition
  elements,  ///< each element in the loops of its readers
  whole,     ///< all elements at once, into a buffer
  tiles      ///< in tiles, each of which is final before the next one begins
};

/// The level of x86-64 that code needs from the host's processor.
enum class HostLevel {
  any,
  v3, ///< AVX2, FMA, BMI, F16C
  v4  ///< AVX-512 F, BW, CD, DQ, VL
};

/// The form of a program's functions, each of which is a list of launches.
enum class FunctionForm {
  hostCode,    ///< host code, which calls the kernels
  launchTable, ///< data; the runtime's queue runs the launches as host code
  gridTable    ///< data; a CUDA device runs the launches as grids
};

/// The costs of computing and keeping an element, in units of a simple instruction
/// such as an addition. They decide which values a kernel keeps in memory.
struct ElementCosts {
  /// A division or a square root.
  double division = 4;
  /// A math function such as exp, or a division of integers.
  double function = 16;
  /// Storing the element to nearby memory and loading it again.
  double storeAndLoad = 6;
  /// An element that costs more than this is kept in memory, even if it is read
  /// only once.
  double longElement = 96;
};

/// Options of code generation.
struct CodeOptions {
  /// The processor, one of Target::getProcessors; if empty, the first of them.
  std::string processor;
  /// NVIDIA's assembler (ptxas), and the processors for which it makes machine code
  /// in addition to the PTX. If `assembler` is empty, there is only PTX.
  std::string assembler;
  std::vector<std::string> assembled;
  /// Whether each reader may recompute a short expression. If not, values with
  /// several readers are kept in memory. The bits of results do not depend on it.
  bool recompute = true;
  /// Whether every sum adds its terms in order. If not, a sum that is computed in
  /// only one kernel uses the fastest order.
  bool orderedSums = false;
  /// Whether products of f32 may round their factors to a 10-bit mantissa (tf32),
  /// which some devices multiply faster.
  bool tf32 = false;
  /// Whether kernels or a library compute matrix products. With ordered sums no
  /// library does.
  ProductMaker products = ProductMaker::bySize;
};

/// One launch of a grid of threads, on a device whose kernels are grids.
struct KernelLaunch {
  /// The suffix of the function's name, after the kernel's symbol.
  std::string suffix;
  int64_t blocks = 1, threads = 1;
  /// The arguments, as indices into the kernel's buffers (Target::emitKernel).
  llvm::SmallVector<unsigned> buffers;
  /// A library call that may compute the results instead. They equal those of the
  /// function except for the order of the terms of sums.
  std::optional<LibraryCall> call;
  /// One thread does all the work of the launch; noted for reports.
  bool isLone = false;
};

/// The facts about a kernel that the buffers of its caller depend on. They follow from
/// the kernel's plan of loops, without code.
struct KernelNeeds {
  /// Bytes of scratch memory that the kernel needs, 64-byte aligned.
  int64_t scratchBytes = 0;
  /// For each result, the operands whose buffer it may share: element i of the
  /// operand is not read after element i of the result is written. A result may
  /// share one of them, and two results must not share the same one.
  llvm::SmallVector<llvm::SmallVector<unsigned>> mayAlias;

  bool operator==(const KernelNeeds &other) const {
    return scratchBytes == other.scratchBytes && mayAlias == other.mayAlias;
  }
};

/// The facts about one kernel's generated code that its callers need.
struct KernelCode {
  KernelNeeds needs;
  /// If kernels are grids of threads: the launches of the kernel, in order.
  std::vector<KernelLaunch> launches;
};

/// Machine code for one kind of device.
struct MachineCode {
  std::string processor;
  std::string bytes;
};

/// Attribute on the module of a kernel's code, a StringAttr that lists the kernel's
/// ops. Symbols contain it, so that profiles show the ops.
inline constexpr llvm::StringLiteral kOpsAttrName = "exec.ops";

/// The compiled code of one kernel.
struct KernelObject {
  /// The name of the kernel in the program.
  std::string kernel;
  /// The name of its function in the object. Equal code has equal names in all
  /// programs. Names begin with the kernel's ops (kOpsAttrName).
  std::string symbol;
  /// A position-independent object file, which needs libm, or PTX.
  std::string object;
  /// The PTX assembled for some devices.
  std::vector<MachineCode> machineCode;
};

/// A kind of device that kernels run on. Everything that the other parts of the
/// compiler know about a device comes through this interface. The tools' main
/// functions register the targets.
class Target {
public:
  virtual ~Target() = default;

  /// The name in `--target`.
  virtual llvm::StringRef getName() const = 0;

  /// The processors for which it generates code, by their names in `--cpu`.
  virtual llvm::ArrayRef<llvm::StringRef> getProcessors() const = 0;

  /// The rates of a device with this processor.
  virtual Device getDevice(llvm::StringRef processor) const = 0;
  /// The link between devices if no better one is known.
  virtual Link getLink() const = 0;

  /// The costs of elements in its kernels. The default fits a processor with
  /// caches.
  virtual ElementCosts getElementCosts() const { return {}; }

  /// The form of its programs' functions.
  virtual FunctionForm getFunctionForm() const = 0;

  /// The level that code made with `options` needs from the host's processor, for
  /// the part of the code that the host runs.
  virtual HostLevel getHostLevel(const CodeOptions &options) const = 0;

  /// Adds the dialects of its code, and its rules for ops as external models.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// The form in which it makes the results of `op`, which is an op of a kernel or
  /// may become one.
  virtual OpForm getForm(mlir::Operation *op) const = 0;

  /// Computes the needs of the code that `emitKernel` writes for `op` with `options`.
  /// Writes no code. Fails as `emitKernel` does.
  virtual mlir::FailureOr<KernelNeeds> describeKernel(mlir::Operation *op,
                                                      const CodeOptions &options) const = 0;

  /// Adds to `code` the function `symbol` that computes `op`, an `nn.kernel` or
  /// `nn.update`, in C `void symbol(char *const *buffers)`, or the functions of its
  /// launches. `buffers` points to the buffers of the operands (scalars too), then
  /// of the results, then one of scratch memory. Buffers are dense and row-major,
  /// and i1 takes one byte. No two of them overlap except as `mayAlias` allows.
  /// Fails with an error on an op that has no rule, and on an op whose code needs
  /// something else than `describeKernel` tells.
  virtual mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op, llvm::StringRef symbol,
                                                 mlir::ModuleOp code,
                                                 const CodeOptions &options) const = 0;

  /// Compiles each module nested in `kernels`, and lowers it in place. Each module
  /// is named after its kernel and contains the function that `emitKernel` made.
  /// Uses as many threads as the context has. Takes objects from `cache`, if given,
  /// and adds new ones to it.
  virtual mlir::FailureOr<std::vector<KernelObject>>
  compileKernels(mlir::ModuleOp kernels, const CodeOptions &options,
                 const ObjectCache *cache) const = 0;
};

/// Makes a target known to `findTarget` in this process.
void registerTarget(std::unique_ptr<Target> target);
/// The target of that name, or null.
const Target *findTarget(llvm::StringRef name);
/// The registered targets, in the order of registration.
std::vector<const Target *> getTargets();
/// Calls Target::registerDialects of all targets.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_TARGETS_TARGET_H

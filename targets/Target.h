#ifndef DPC_TARGETS_TARGET_H
#define DPC_TARGETS_TARGET_H

#include "planning/Machine.h"
#include "planning/ProductMaker.h"
#include "targets/LibraryProduct.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "llvm/ADT/SmallVector.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

class ObjectCache;

/// How a target makes the results of an op that stands in a kernel.
enum class OpForm {
  none,      ///< not at all: the op is no part of a kernel
  composite, ///< as the ops that it decomposes into
  elements,  ///< each element in the loops of whoever reads it
  whole,     ///< all elements at once, into a buffer
  tiles      ///< the same in tiles, each final before the next is begun
};

/// What code asks of the processor of the host: levels of x86-64.
enum class HostLevel {
  any,
  v3, ///< AVX2, FMA, BMI, F16C
  v4  ///< AVX-512 F, BW, CD, DQ, VL
};

/// What becomes of the functions of a program, each a list of launches.
enum class FunctionForm {
  hostCode,    ///< code of the host, which calls the kernels
  launchTable, ///< data, which the runtime's queue performs with host code
  gridTable    ///< data, which a CUDA device performs
};

/// What computing and keeping an element costs, in simple instructions such as
/// an addition: what a kernel keeps in memory is decided by it.
struct ElementCosts {
  /// A division, a square root.
  double division = 4;
  /// A math function such as exp, a division of integers.
  double function = 16;
  /// Writing the element to memory near by and reading it back.
  double storeAndLoad = 6;
  /// An element that costs more than this is kept in memory, however often it
  /// is read.
  double longElement = 96;
};

/// How code is generated.
struct CodeOptions {
  /// The processor, one of Target::getProcessors; the first where empty.
  std::string processor;
  /// NVIDIA's assembler (ptxas), and the processors that it makes machine code for
  /// beside the PTX; "": there is PTX alone.
  std::string assembler;
  std::vector<std::string> assembled;
  /// Whether each reader of a short computation may repeat it; if not, what has
  /// several readers is kept in memory. Bits do not depend on it.
  bool recompute = true;
  /// Whether every sum adds its terms in their order; if not, those that are
  /// computed at one place only are added in the order that is fastest there.
  bool orderedSums = false;
  /// Whether products of f32 may round their factors to 10 bits of mantissa
  /// (tf32), where the device multiplies such matrices faster.
  bool tf32 = false;
  /// Who multiplies matrices. Where sums keep their order no library does.
  ProductMaker products = ProductMaker::bySize;
};

/// One launch of a grid of threads, on a device whose kernels are made of them.
struct KernelLaunch {
  /// Behind the kernel's symbol, the name of the function.
  std::string suffix;
  int64_t blocks = 1, threads = 1;
  /// Its arguments: which of the kernel's buffers (Target::emitKernel) they are.
  llvm::SmallVector<unsigned> buffers;
  /// What a library may do instead: the result is that of the function, up to
  /// the order in which sums add their terms.
  std::optional<LibraryProduct> product;
  /// One thread does all of it, for reports.
  bool isLone = false;
};

/// What a caller must know of the generated code of one kernel.
struct KernelCode {
  /// Bytes of scratch memory the function needs, 64-byte aligned.
  int64_t scratchBytes = 0;
  /// For each result, the operands whose buffer it may share: element i of the
  /// operand is not read once element i of the result has been written. A
  /// result may take one of them; no two results the same.
  llvm::SmallVector<llvm::SmallVector<unsigned>> mayAlias;
  /// Where kernels are grids of threads: the launches that make it, in order.
  std::vector<KernelLaunch> launches;
};

/// Code that a device of one kind runs as it is.
struct MachineCode {
  std::string processor;
  std::string bytes;
};

/// Name of the attribute of a kernel's module of code with the ops that it is made
/// of, which its symbols have in them, for profiles: a StringAttr.
inline constexpr llvm::StringLiteral kOpsAttrName = "exec.ops";

/// The compiled code of one kernel.
struct KernelObject {
  /// Its name in the program.
  std::string kernel;
  /// Its function in the object: equal code has equal names in all programs, which
  /// begin with its ops (kOpsAttrName).
  std::string symbol;
  /// A position-independent object file, which needs libm; or PTX.
  std::string object;
  /// The same as PTX, for some devices.
  std::vector<MachineCode> machineCode;
};

/// A kind of device that kernels run on: everything that the rest of the
/// compiler asks about it. The mains register the targets there are.
class Target {
public:
  virtual ~Target() = default;

  /// What `--target` calls it.
  virtual llvm::StringRef getName() const = 0;

  /// The processors that it generates code for, as `--cpu` calls them.
  virtual llvm::ArrayRef<llvm::StringRef> getProcessors() const = 0;

  /// What a device with this processor can do.
  virtual Device getDevice(llvm::StringRef processor) const = 0;
  /// The link between devices where nothing else is known of it.
  virtual Link getLink() const = 0;

  /// What elements of its kernels cost. The default is a processor's with caches.
  virtual ElementCosts getElementCosts() const { return {}; }

  /// What becomes of the functions of its programs.
  virtual FunctionForm getFunctionForm() const = 0;

  /// What code made with `options`, as far as the host runs it, needs of the
  /// host's processor.
  virtual HostLevel getHostLevel(const CodeOptions &options) const = 0;

  /// Adds the dialects of its code, and its rules of ops as external models.
  virtual void registerDialects(mlir::DialectRegistry &registry) const = 0;

  /// How it makes the results of `op`, an op of a kernel or one that is to
  /// become one.
  virtual OpForm getForm(mlir::Operation *op) const = 0;

  /// Adds to `code` the function `symbol` that computes `op`, an `nn.kernel` or
  /// `nn.update`, in C `void symbol(char *const *buffers)`; or the functions of
  /// its launches. `buffers` points to the operands' buffers (scalars too), then
  /// the results', then one of scratch memory. Buffers are dense and row-major,
  /// i1 takes a byte, and no two of them overlap but as `mayAlias` says. Fails
  /// with an error on the op that has no rule.
  virtual mlir::FailureOr<KernelCode> emitKernel(mlir::Operation *op, llvm::StringRef symbol,
                                                 mlir::ModuleOp code,
                                                 const CodeOptions &options) const = 0;

  /// Compiles each module nested in `kernels`, which is named after the kernel
  /// whose function `emitKernel` put into it, and lowers it in place. Uses as
  /// many threads as the context has. What `cache` has, if there is one, is
  /// taken from it, and the rest added.
  virtual mlir::FailureOr<std::vector<KernelObject>>
  compileKernels(mlir::ModuleOp kernels, const CodeOptions &options,
                 const ObjectCache *cache) const = 0;
};

/// Makes a target known to `findTarget`, in this process.
void registerTarget(std::unique_ptr<Target> target);
/// The target of that name, or null.
const Target *findTarget(llvm::StringRef name);
/// Those that were registered, in that order.
std::vector<const Target *> getTargets();
/// Target::registerDialects of all of them.
void registerTargetDialects(mlir::DialectRegistry &registry);

} // namespace dpc

#endif // DPC_TARGETS_TARGET_H

// Remembers the node, kernel or file that each thread works on. If a tool runs out of
// memory, its last message names this work.
//
// A thread keeps its record on its stack, so that nothing is allocated or copied.
// `describe` reads the record and does not allocate either, because it runs when memory
// is exhausted.

#ifndef DPC_DIALECTS_INTERFACES_CURRENTWORK_H
#define DPC_DIALECTS_INTERFACES_CURRENTWORK_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// Says that the current thread does some work until the object is destroyed. The object
/// must lie on the stack of the thread. The names that the constructors take must live
/// as long as the object.
class CurrentWork {
public:
  /// Work on the object `name` of the kind `kind`: "node", "kernel" or "file". `op` is
  /// the operator of a node, or empty.
  CurrentWork(const char *kind, llvm::StringRef name, llvm::StringRef op = {});
  /// Work on the op named `op`, which was made for the node that `loc` names.
  CurrentWork(mlir::Location loc, llvm::StringRef op);
  ~CurrentWork();
  CurrentWork(const CurrentWork &) = delete;
  CurrentWork &operator=(const CurrentWork &) = delete;

  /// Says that this thread runs the pass `pass`, or no pass if it is empty. The text of
  /// `pass` must live until the next call.
  static void setPass(llvm::StringRef pass);

  /// The main thread calls this function once. After that, `describe` on a thread that
  /// has neither work nor a pass describes the work and the pass of the main thread.
  static void setMain();

  /// Describes the work of this thread: " at node 'x' (Mul) inside node 'loop' (Loop)",
  /// " in pass dpc-NAME", or both. Writes at most `size` bytes to `text`, and truncates
  /// a longer description. The text is empty if no work is known.
  static void describe(char *text, size_t size);

private:
  const char *kind;
  llvm::StringRef name, op;
  std::optional<mlir::Location> loc;
  const CurrentWork *outer;
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_CURRENTWORK_H

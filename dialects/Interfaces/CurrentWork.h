// Remembers the node, kernel or file that each thread works on, for the message that
// ends a tool without memory.
//
// A thread keeps this record on its stack: nothing is allocated or copied, and an
// entry costs two stores. Only `describe` reads the record, and it allocates nothing
// either.

#ifndef DPC_DIALECTS_INTERFACES_CURRENTWORK_H
#define DPC_DIALECTS_INTERFACES_CURRENTWORK_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// Work of the thread that makes the object, for as long as the object lives. The object
/// lies on the stack, and the names must live as long as it does.
class CurrentWork {
public:
  /// A thing of the kind `kind` ("node", "kernel", "file") named `name`. `op`, if it
  /// is not empty, says which operator it is.
  CurrentWork(const char *kind, llvm::StringRef name, llvm::StringRef op = {});
  /// An op made for the node that `loc` names. `op` is the op's name.
  CurrentWork(mlir::Location loc, llvm::StringRef op);
  ~CurrentWork();
  CurrentWork(const CurrentWork &) = delete;
  CurrentWork &operator=(const CurrentWork &) = delete;

  /// The pass that this thread runs; empty: none. `pass` must live until the next
  /// call.
  static void setPass(llvm::StringRef pass);

  /// The main thread calls this once. A thread without work of its own counts as doing
  /// the work of the main thread.
  static void setMain();

  /// Writes " at node 'x' (Mul) inside node 'loop' (Loop)", " in pass dpc-NAME", or
  /// both, into `text` of `size` bytes. A longer description is cut. The text is empty
  /// if no work is known.
  static void describe(char *text, size_t size);

private:
  const char *kind;
  llvm::StringRef name, op;
  std::optional<mlir::Location> loc;
  const CurrentWork *outer;
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_CURRENTWORK_H

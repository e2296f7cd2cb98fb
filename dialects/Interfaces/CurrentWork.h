// What a thread works on, for the message that ends a tool without memory.
//
// Work is noted on the thread's stack: nothing is allocated or copied, and what
// is noted costs two stores. Only `describe` reads it, and it asks for no memory
// either.

#ifndef DPC_DIALECTS_INTERFACES_CURRENTWORK_H
#define DPC_DIALECTS_INTERFACES_CURRENTWORK_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/StringRef.h"

#include <optional>

namespace dpc {

/// The thread works on this as long as the object lives, which is on the stack.
/// The names must live as long.
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

  /// Threads without work of their own do that of the thread that called this,
  /// which is the main one.
  static void setMain();

  /// Writes " at node 'x' (Mul) inside node 'loop' (Loop)", " in pass dpc-NAME", or
  /// both, into `text` of `size` bytes, cut where it is too long. Empty where
  /// nothing is known.
  static void describe(char *text, size_t size);

private:
  const char *kind;
  llvm::StringRef name, op;
  std::optional<mlir::Location> loc;
  const CurrentWork *outer;
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_CURRENTWORK_H

// Makes the errors of plan objects.
//
// The check() and verify() of every plan object return such errors. The text is one line that
// begins in lower case. Usually it names the object and the values that disagree, e.g.
// "stream 0 runs task 5 of 3".

#ifndef DPC_PLANNING_PLANERROR_H
#define DPC_PLANNING_PLANERROR_H

#include "llvm/Support/Error.h"
#include "llvm/Support/FormatVariadic.h"

namespace dpc {

/// Returns an error whose text is `llvm::formatv(format, values...)`.
template <typename... Ts> llvm::Error planError(const char *format, Ts &&...values) {
  return llvm::make_error<llvm::StringError>(
      llvm::formatv(format, std::forward<Ts>(values)...).str(), llvm::inconvertibleErrorCode());
}

} // namespace dpc

#endif // DPC_PLANNING_PLANERROR_H

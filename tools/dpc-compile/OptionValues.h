#ifndef DPC_TOOLS_DPC_COMPILE_OPTIONVALUES_H
#define DPC_TOOLS_DPC_COMPILE_OPTIONVALUES_H

#include "llvm/ADT/Twine.h"
#include "llvm/Option/ArgList.h"

#include <cstdint>
#include <optional>

namespace dpc {

/// Prints `message` as an error and exits with 2.
[[noreturn]] void usageError(const llvm::Twine &message);

// Values of single options. Each exits after one line that names the option and the value, if
// the value is not of its kind.

/// A finite number from `lowest` up.
double parseNumber(const llvm::opt::Arg &arg, double lowest);

/// A number of MiB, at least a byte, as bytes.
int64_t parseMebibytes(const llvm::opt::Arg &arg);

/// A number of bytes: 1024, 64KiB, 1.5GiB, 80GB, ..
int64_t parseBytes(const llvm::opt::Arg &arg);
/// The same of a text; nullopt if it is something else.
std::optional<int64_t> parseBytes(llvm::StringRef text);

/// on or off; on without the option. `name` is for messages.
bool parseSwitch(const llvm::opt::InputArgList &args, unsigned option, llvm::StringRef name);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_OPTIONVALUES_H

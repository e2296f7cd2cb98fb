#ifndef DPC_TOOLS_DPC_COMPILE_OPTIONVALUES_H
#define DPC_TOOLS_DPC_COMPILE_OPTIONVALUES_H

#include "llvm/ADT/Twine.h"
#include "llvm/Option/ArgList.h"

#include <cstdint>
#include <optional>

namespace dpc {

/// Prints `message` as an error and exits with 2.
[[noreturn]] void usageError(const llvm::Twine &message);

// The following functions parse the value of one option. If the value is not of the expected
// kind, they print one line that names the option and the value, and exit with 2.

/// Returns a finite number that is at least `lowest`.
double parseNumber(const llvm::opt::Arg &arg, double lowest);

/// Returns a number of MiB, converted to bytes; at least one byte.
int64_t parseMebibytes(const llvm::opt::Arg &arg);

/// Returns a number of bytes. The value has the form 1024, 64KiB, 1.5GiB, 80GB, ..
int64_t parseBytes(const llvm::opt::Arg &arg);
/// The same for a text instead of an option; nullopt if the text has another form.
std::optional<int64_t> parseBytes(llvm::StringRef text);

/// Returns whether the value is `on`; the other value is `off`. True if the option is not
/// given. Messages call the option `name`.
bool parseSwitch(const llvm::opt::InputArgList &args, unsigned option, llvm::StringRef name);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_OPTIONVALUES_H

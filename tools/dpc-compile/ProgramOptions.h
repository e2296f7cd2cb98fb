#ifndef DPC_TOOLS_DPC_COMPILE_PROGRAMOPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_PROGRAMOPTIONS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace dpc {

/// Explains an argument that dpc-compile does not know but that the compiled program or
/// dpc-run takes: says how to pass it when the program runs. Empty for all other
/// arguments.
std::string explainProgramOption(llvm::StringRef argument);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_PROGRAMOPTIONS_H

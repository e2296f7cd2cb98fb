#ifndef DPC_TOOLS_DPC_COMPILE_PROGRAMOPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_PROGRAMOPTIONS_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace dpc {

/// For an argument that dpc-compile does not know: says that the produced program, or
/// dpc-run, takes it, and how it is given there. Empty if neither does.
std::string explainProgramOption(llvm::StringRef argument);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_PROGRAMOPTIONS_H

#ifndef DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H

#include "tools/dpc-compile/Options.h"

#include "llvm/Option/ArgList.h"

namespace dpc {

/// Reads the options that choose the plan into `options.plan`. Also records the choices that
/// these options leave open, because --device-memory may change those. The target must be
/// known. If a value is not valid in any plan, exits with 2 after one line.
void parsePlan(const llvm::opt::InputArgList &args, CompileOptions &options);

/// Returns the words of the command line that neither choose the plan nor only ask for reports.
std::vector<std::string> findOtherWords(const llvm::opt::InputArgList &args);

/// Returns a command for a shell that makes the same program, with all choices of the plan as
/// options. `isOnDevice` says whether the target has a library of matrix products; if so, the
/// command has --products.
std::string describeCommand(const CompileOptions &options, bool isOnDevice);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H

#ifndef DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H

#include "tools/dpc-compile/Options.h"

#include "llvm/Option/ArgList.h"

namespace dpc {

/// Reads the options that choose the plan into `options.plan`. Also records the choices that
/// these options leave open, because --device-memory may change those. The target must be
/// known. If a value is not valid in any plan, exits with 2 after one line.
void parsePlan(const llvm::opt::InputArgList &args, CompileOptions &options);

/// Returns the plan as options for a shell. A compile of the same model for the same target and
/// training step with these options makes the same program. `isOnDevice` says whether the target
/// has a library of matrix products; if so, the text has --products.
std::string describePlan(const ProgramPlan &plan, bool isOnDevice);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H

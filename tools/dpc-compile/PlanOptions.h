#ifndef DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H
#define DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H

#include "tools/dpc-compile/Options.h"

#include "llvm/Option/ArgList.h"

namespace dpc {

/// Reads the options that choose the plan into `options.plan`, and the choices that they leave
/// to --device-memory. The target must be known. Exits with 2 after one line for a value that no
/// plan has.
void parsePlan(const llvm::opt::InputArgList &args, CompileOptions &options);

/// The plan as options, for a shell: a compile of the same model for the same target and step
/// with these options makes the same program. With `isOnDevice`, the target leaves a choice of
/// who multiplies matrices.
std::string describePlan(const ProgramPlan &plan, bool isOnDevice);

} // namespace dpc

#endif // DPC_TOOLS_DPC_COMPILE_PLANOPTIONS_H

#ifndef DPC_RUNTIME_SRC_PROGRAM_STATENAMES_H
#define DPC_RUNTIME_SRC_PROGRAM_STATENAMES_H

#include "dpc/program.h"

#include <string>

namespace dpc {

/// Index of the state called `name`, or DPC_NONE. `name` must be the complete
/// name: globs are matched by matchesGlob.
uint32_t findState(const dpc_program_t &program, const std::string &name);

/// Whether `pattern` is `name` or a glob (*, ?, [..]) that matches it.
bool matchesGlob(const std::string &pattern, const std::string &name);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_STATENAMES_H

#ifndef DPC_RUNTIME_SRC_TRAIN_CHECKFILES_H
#define DPC_RUNTIME_SRC_TRAIN_CHECKFILES_H

#include "runtime/src/check/Check.h"
#include "runtime/src/train/Options.h"

namespace dpc {

/// What --check looks at: the files that the options name. On rank 0, also checks the output files.
CheckRequest checkRequest(const dpc_program_t &program, const Options &options, uint32_t rank);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_CHECKFILES_H

#ifndef DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H
#define DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H

#include "runtime/src/train/Options.h"

namespace dpc {

/// Checks, before the first step, that all output files of the run can be
/// written. DPC_IO, with a message that names option and file, for a missing
/// folder, a missing permission, or a directory in place of a file. DPC_INVALID
/// if two outputs are the same file under any names, if an output is a file
/// that the run reads, or if the model is too large for an ONNX file. Creates
/// and changes no files. Called on one rank only.
dpc_status_t checkOutputFiles(const dpc_program_t &program, const Options &options);

/// Collective. Writes the files of --save-params and --save-onnx with the
/// current values.
dpc_status_t writeModelFiles(dpc_session &session, const Options &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H

#ifndef DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H
#define DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H

#include "runtime/src/train/Options.h"

namespace dpc {

/// DPC_IO, naming option and file, when something that this run is to write
/// cannot be written as things are now: no such folder, no permission, a
/// directory in place of a file. DPC_INVALID for the same file twice, by
/// whatever names, for a file that the run reads, and for a model that no ONNX
/// file holds. Leaves nothing behind and changes no file. For one rank to ask.
dpc_status_t checkOutputFiles(const dpc_program_t &program, const Options &options);

/// Collective. Writes what --save-params and --save-onnx ask for, of the
/// present values.
dpc_status_t writeModelFiles(dpc_session &session, const Options &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H

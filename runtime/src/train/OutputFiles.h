#ifndef DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H
#define DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H

#include "runtime/src/train/Options.h"

#include <string>
#include <vector>

namespace dpc {

/// A file that the run writes or reads, and the option that names it.
struct NamedFile {
  std::string option, path;
  bool inPlace = false; ///< the run appends to the file and does not replace it
};

/// The files that the run reads and therefore must not change, the program's own among them. Files
/// of --init-params are not in this list, because the run reads them before it may replace them.
std::vector<NamedFile> filesRead(const dpc_program_t &program, const Options &options);

/// Checks, before the first step, that the run can write all its output files. Returns
/// DPC_IO if a folder or a permission is missing, or if a folder has the name of an
/// output file. Returns DPC_INVALID if two outputs are the same file (even under
/// different names), or if the run also reads an output file. Also returns DPC_INVALID
/// if the model is too large for an ONNX file. Messages name the option and the file.
/// Leaves all files as they are. Called only on rank 0.
dpc_status_t checkOutputFiles(const dpc_program_t &program, const Options &options);

/// Checks that this rank can write its files of --trace and --profile, if it is on another host
/// than rank 0, which has checked the files of its own host. Messages name the host.
dpc_status_t checkRankFiles(const dpc_session &session, const Options &options);

/// Collective. Writes the files of --save-params and --save-onnx with the
/// current values.
dpc_status_t writeModelFiles(dpc_session &session, const Options &options);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_TRAIN_OUTPUTFILES_H

#ifndef DPC_RUNTIME_SRC_SESSION_STATEFILES_H
#define DPC_RUNTIME_SRC_SESSION_STATEFILES_H

#include "runtime/src/pieces/WritePlan.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/session/StateSources.h"

#include <functional>
#include <string>
#include <vector>

namespace dpc {

/// Takes a part of a tensor, on rank 0.
using WritePart = std::function<dpc_status_t(const void *elements, uint64_t count)>;

/// Collective. Calls write(elements, count) on rank 0 for part after part of a
/// state, which those send that would write it into a checkpoint.
dpc_status_t forEachPart(dpc_session &session, const std::vector<PlannedPiece> &plan,
                         uint32_t index, const WritePart &write);

/// Sets a state from what a file has of it, as far as that is like it.
dpc_status_t loadState(dpc_session &session, uint32_t index, const StateSource &source,
                       Likeness likeness);

/// Whether a state is the loss scale or belongs to it. A checkpoint of another precision
/// has none, or one that is not needed: then the scale begins with its first value.
bool isOfLossScale(const std::string &name);

/// Where each state lies in a file that has all of them. DPC_INVALID when it
/// lacks one, has one in another shape or type, or has one of another program.
/// `notes` gets what is not as it seems.
dpc_status_t findAllStates(const dpc_program_t &program, const TensorFiles &files,
                           std::vector<StateSource> *out, std::vector<std::string> *notes);

/// Sets all states from where they were found.
dpc_status_t loadAllStates(dpc_session &session, const std::vector<StateSource> &sources);

/// DPC_INVALID, saying why, when the program cannot save its model as ONNX.
dpc_status_t checkOnnx(const dpc_program_t &program);

/// Collective. Writes the program's ONNX template with the present values in
/// it.
dpc_status_t saveOnnx(dpc_session &session, const char *path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATEFILES_H

#ifndef DPC_RUNTIME_SRC_SESSION_STATEFILES_H
#define DPC_RUNTIME_SRC_SESSION_STATEFILES_H

#include "runtime/src/pieces/WritePlan.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/session/StateSources.h"

#include <functional>
#include <string>
#include <vector>

namespace dpc {

/// Receives a part of a tensor, on rank 0.
using WritePart = std::function<dpc_status_t(const void *elements, uint64_t count)>;

/// Collective. Calls write(elements, count) on rank 0 for one part of a state
/// after the other. The rank that would write a part into a checkpoint sends
/// it.
dpc_status_t forEachPart(dpc_session &session, const std::vector<PlannedPiece> &plan,
                         uint32_t index, const WritePart &write);

/// Sets a state from its source in a file, whose shape and type must agree as
/// `likeness` says.
dpc_status_t loadState(dpc_session &session, uint32_t index, const StateSource &source,
                       Likeness likeness);

/// Whether a state is the loss scale or one of its slots. A checkpoint of a
/// program with another precision may lack it, or have it although this program
/// does not need it; the scale then starts from its initial value.
bool isOfLossScale(const std::string &name);

/// Finds the source of each state in a file that has all of them. DPC_INVALID
/// if a state is missing, has another shape or type, or belongs to another
/// program. `notes` gets remarks such as differing copies of tied weights.
dpc_status_t findAllStates(const dpc_program_t &program, const TensorFiles &files,
                           std::vector<StateSource> *out, std::vector<std::string> *notes);

/// Sets all states from their sources.
dpc_status_t loadAllStates(dpc_session &session, const std::vector<StateSource> &sources);

/// DPC_INVALID, with the reason, if the program cannot save its model as ONNX.
dpc_status_t checkOnnx(const dpc_program_t &program);

/// Collective. Writes the program's ONNX template with the current values
/// inserted.
dpc_status_t saveOnnx(dpc_session &session, const char *path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATEFILES_H

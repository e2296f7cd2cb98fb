#ifndef DPC_RUNTIME_SRC_SESSION_STATEFILES_H
#define DPC_RUNTIME_SRC_SESSION_STATEFILES_H

#include "runtime/src/pieces/WritePlan.h"
#include "runtime/src/session/Session.h"
#include "runtime/src/session/StateSources.h"

#include <functional>
#include <string>
#include <vector>

namespace dpc {

/// Receives consecutive elements of a tensor on rank 0.
using WritePart = std::function<dpc_status_t(const void *elements, uint64_t count)>;

/// Collective. Passes the complete state to `write` on rank 0, part by part in order.
/// The elements come from the ranks that would write the state into a checkpoint.
dpc_status_t forEachPart(dpc_session &session, const std::vector<PlannedPiece> &plan,
                         uint32_t index, const WritePart &write);

/// Sets a state from its source, a tensor of a file. `likeness` says how closely
/// the shapes and types of source and state must agree.
dpc_status_t loadState(dpc_session &session, uint32_t index, const StateSource &source,
                       Likeness likeness);

/// Whether a state is the loss scale or one of its slots. A checkpoint may come
/// from a program with another --precision. Then it may lack the scale, which
/// starts from its initial value, or have a scale that this program ignores.
bool isOfLossScale(const std::string &name);

/// Finds the source of each state in a checkpoint, which must have all states. Only
/// the states of isOfLossScale() and StateSources::isDropped() may be missing.
/// Returns DPC_INVALID if another state is missing, if a state has another shape or
/// type, or if the files have a state that the program lacks. `notes` gets remarks,
/// for example that two copies of a tied weight differ.
dpc_status_t findAllStates(const dpc_program_t &program, const TensorFiles &files,
                           std::vector<StateSource> *out, std::vector<std::string> *notes);

/// Sets all states from their sources.
dpc_status_t loadAllStates(dpc_session &session, const std::vector<StateSource> &sources);

/// Returns DPC_INVALID, with the reason, if the program cannot save its model as
/// an ONNX file.
dpc_status_t checkOnnx(const dpc_program_t &program);

/// Collective. Writes the model as an ONNX file: the program's ONNX template with
/// the current values of state inserted.
dpc_status_t saveOnnx(dpc_session &session, const char *path);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_SESSION_STATEFILES_H

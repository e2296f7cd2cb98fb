// Finds additions and products that the exporter dropped as neutral.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H
#define DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H

#include "frontends/onnx/Restore/CallReads.h"

namespace dpc::onnx {

/// One message for each dropped addition of a small number, or factor close to 1,
/// that its reader needs to be finite or to have a gradient. For other readers the
/// dropped number is below the resolution of the type.
std::vector<std::string> findDroppedArithmetic(const Graph &graph, const CallComparison &calls);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H

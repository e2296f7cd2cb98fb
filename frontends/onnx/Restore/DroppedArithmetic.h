// Additions and products that the exporter took for nothing.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H
#define DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H

#include "frontends/onnx/Restore/CallReads.h"

namespace dpc::onnx {

/// One message for each call that needs a small addend, or a factor close to 1,
/// to be finite or to have a gradient, where the exporter dropped it. Anywhere
/// else the dropped number is below what the types resolve.
std::vector<std::string> findDroppedArithmetic(const Graph &graph, const CallComparison &calls);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H

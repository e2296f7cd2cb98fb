// Finds additions and products that the exporter dropped because their operand is nearly
// 0 or nearly 1.

#ifndef DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H
#define DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H

#include "frontends/onnx/Restore/CallReads.h"

namespace dpc::onnx {

/// One message for each dropped addition of a small number, and for each dropped factor
/// close to 1, if the op that reads the result may now have an infinite value, an infinite
/// gradient or a kink. An example is the 1e-8 in sqrt(x + 1e-8). For any other op the
/// dropped number makes no difference, because it is below the resolution of the type.
std::vector<std::string> findDroppedArithmetic(const Graph &graph, const CallComparison &calls);

} // namespace dpc::onnx

#endif // DPC_FRONTENDS_ONNX_RESTORE_DROPPEDARITHMETIC_H

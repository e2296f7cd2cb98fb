#ifndef DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H
#define DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H

#include "dpc/data.h"
#include "dpc/records.h"

#include <string>

namespace dpc {

/// Advice for messages about an array whose shape does not fit an input. It says how
/// to compile the program, or how to change the array, so that the array fits. The
/// advice has the form " (..)". For an input of the ONNX graph, it is empty if
/// nothing fits.
std::string shapeRemedy(const dpc_input_t &input, const dpc_array_t &array);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H

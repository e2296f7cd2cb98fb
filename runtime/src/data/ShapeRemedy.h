#ifndef DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H
#define DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H

#include "dpc/data.h"
#include "dpc/records.h"

#include <string>

namespace dpc {

/// Advice for an array whose shape does not fit an input: how to compile, or
/// how to lay out the array, so that it fits. " (..)", or empty if there is no
/// advice.
std::string shapeRemedy(const dpc_input_t &input, const dpc_array_t &array);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H

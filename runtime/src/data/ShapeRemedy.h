#ifndef DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H
#define DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H

#include "dpc/data.h"
#include "dpc/records.h"

#include <string>

namespace dpc {

/// For an array whose shape does not fit an input: how to compile, or to lay out the array,
/// so that it does. " (..)", or empty where nothing can be said.
std::string shapeRemedy(const dpc_input_t &input, const dpc_array_t &array);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SHAPEREMEDY_H

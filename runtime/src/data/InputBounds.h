#ifndef DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H
#define DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H

#include "dpc/records.h"
#include "dpc/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// Shape of one sample of an input: the input's shape without its batch dimension,
/// if it has one.
std::vector<int64_t> sampleShape(const dpc_input_t &input);

/// The number of a sample, for messages: its number among the samples of all files,
/// and its number in its own file.
struct SampleNumber {
  uint64_t inAll, inFile;
};

/// Checks the `count` elements of type `dtype` at `data` against the bounds of an
/// input. `first` is the index of the first of these elements in their sample.
/// Without a batch dimension, the complete array is the sample. Returns DPC_INVALID,
/// with a message that names `source`, the sample and the value, if a value is out
/// of bounds.
dpc_status_t checkBounds(const dpc_input_t &input, const std::string &source, uint32_t dtype,
                         const char *data, uint64_t first, uint64_t count, SampleNumber sample);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H

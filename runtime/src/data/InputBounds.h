#ifndef DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H
#define DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H

#include "dpc/records.h"
#include "dpc/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// Extents of one sample of an input: its shape without the batch dimension.
std::vector<int64_t> sampleShape(const dpc_input_t &input);

/// The number of a sample, for messages: in all files together, and in its own.
struct SampleNumber {
  uint64_t inAll, inFile;
};

/// Checks `count` elements of type `dtype` at `data`, which are those from
/// `first` on of a sample (of the whole array, without a batch dimension),
/// against the input's bounds. DPC_INVALID names `source`, the sample and the
/// value.
dpc_status_t checkBounds(const dpc_input_t &input, const std::string &source, uint32_t dtype,
                         const char *data, uint64_t first, uint64_t count, SampleNumber sample);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H

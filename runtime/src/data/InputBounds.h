#ifndef DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H
#define DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H

#include "dpc/records.h"
#include "dpc/status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// Shape of one sample of an input: the input's shape without the batch
/// dimension.
std::vector<int64_t> sampleShape(const dpc_input_t &input);

/// The number of a sample, for messages: counted over all files, and in its own
/// file.
struct SampleNumber {
  uint64_t inAll, inFile;
};

/// Checks `count` elements of type `dtype` at `data` against the input's
/// bounds. `first` is the index of the first of them in the sample (in the
/// complete array if there is no batch dimension). DPC_INVALID with a message
/// that names `source`, the sample and the value.
dpc_status_t checkBounds(const dpc_input_t &input, const std::string &source, uint32_t dtype,
                         const char *data, uint64_t first, uint64_t count, SampleNumber sample);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_INPUTBOUNDS_H

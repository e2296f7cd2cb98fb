#ifndef DPC_RUNTIME_SRC_DESCRIBE_DEVICERATES_H
#define DPC_RUNTIME_SRC_DESCRIBE_DEVICERATES_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc {

/// Runs the tool dpc-device for `ranks` ranks that compute at the same time. `out` gets what it
/// prints, the object `device` of a topology file. Fails with a message if the tool is not there,
/// or fails.
dpc_status_t measureDevice(uint32_t ranks, std::string *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_DEVICERATES_H

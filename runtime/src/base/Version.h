#ifndef DPC_RUNTIME_SRC_BASE_VERSION_H
#define DPC_RUNTIME_SRC_BASE_VERSION_H

namespace dpc {

/// The name and version of this runtime, e.g. "dpc 0.1.0".
const char *runtimeVersion();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_VERSION_H

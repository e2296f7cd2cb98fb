#ifndef DPC_RUNTIME_SRC_DESCRIBE_ACTIONTIME_H
#define DPC_RUNTIME_SRC_DESCRIBE_ACTIONTIME_H

#include "dpc/status.h"

namespace dpc {

/// Measures the seconds that the runtime takes from the end of one function of a program to the
/// start of the next one: it runs a program of many functions that add a few numbers.
dpc_status_t measureActionTime(double *outSeconds);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DESCRIBE_ACTIONTIME_H

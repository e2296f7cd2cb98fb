#ifndef DPC_RUNTIME_SRC_BASE_STATUS_H
#define DPC_RUNTIME_SRC_BASE_STATUS_H

#include "dpc/status.h"

namespace dpc {

/// Records a formatted message as the thread's last error. Returns `status`, so
/// that callers can write `return fail(...)`.
[[gnu::format(printf, 2, 3)]] dpc_status_t fail(dpc_status_t status, const char *format, ...);

/// Puts the formatted text and ": " before the thread's last error, e.g. "--eval-data: " before
/// "x.npy: No such file or directory". Returns `status` unchanged.
[[gnu::format(printf, 2, 3)]] dpc_status_t failWithin(dpc_status_t status, const char *format, ...);

/// Like fail, but for an error that another rank reports to the user, so that
/// this rank must not report it again.
[[gnu::format(printf, 2, 3)]] dpc_status_t failElsewhere(dpc_status_t status, const char *format,
                                                         ...);

/// Whether the thread's last error came from failElsewhere.
bool isToldElsewhere();

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_STATUS_H

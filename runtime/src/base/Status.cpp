// Keeps the text of each thread's last error, because the functions of the C
// ABI return only a status.

#include "runtime/src/base/Status.h"

#include <cstdarg>
#include <cstdio>
#include <cstring>

namespace {
constexpr size_t kMessageBytes = 1024;
thread_local char lastError[kMessageBytes] = "";
thread_local bool toldElsewhere = false;

dpc_status_t keep(dpc_status_t status, bool elsewhere, const char *format, va_list args) {
  char text[kMessageBytes]; // the arguments may point into lastError
  std::vsnprintf(text, sizeof text, format, args);
  std::memcpy(lastError, text, sizeof text);
  toldElsewhere = elsewhere;
  return status;
}
} // namespace

namespace dpc {

dpc_status_t fail(dpc_status_t status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  keep(status, false, format, args);
  va_end(args);
  return status;
}

dpc_status_t failElsewhere(dpc_status_t status, const char *format, ...) {
  va_list args;
  va_start(args, format);
  keep(status, true, format, args);
  va_end(args);
  return status;
}

bool isToldElsewhere() { return toldElsewhere; }

dpc_status_t failWithin(dpc_status_t status, const char *format, ...) {
  char context[kMessageBytes / 2];
  va_list args;
  va_start(args, format);
  std::vsnprintf(context, sizeof context, format, args);
  va_end(args);
  return fail(status, "%s: %s", context, lastError);
}

} // namespace dpc

extern "C" const char *dpc_last_error(void) { return lastError; }

extern "C" const char *dpc_status_name(dpc_status_t status) {
  switch (status) {
  case DPC_OK:
    return "ok";
  case DPC_INVALID:
    return "invalid input";
  case DPC_USAGE:
    return "usage";
  case DPC_PEER:
    return "peer failure";
  case DPC_NUMERIC:
    return "numerical stop";
  case DPC_IO:
    return "input/output";
  case DPC_INTERRUPTED:
    return "interrupted";
  }
  return "unknown status";
}

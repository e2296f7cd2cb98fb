/* Status codes of the runtime. A compiled program that fails exits with the
 * code of the failure. The code tells what was at fault: the input, the command
 * line, a peer, ... */
#ifndef DPC_STATUS_H
#define DPC_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a runtime call: DPC_OK, or the class of the failure. After a
 * failure, dpc_last_error() returns the message. */
typedef int32_t dpc_status_t;

enum {
  DPC_OK = 0,
  DPC_INVALID = 1,      /**< the input or the request is wrong: a data file, a shape,
                      a value out of range */
  DPC_USAGE = 2,        /**< the command line is wrong */
  DPC_PEER = 3,         /**< another rank or the transport failed; if a rank failed, the message
                   names it */
  DPC_NUMERIC = 4,      /**< a value that must be finite is not; the message names the step and, if
                      it is known, the tensor */
  DPC_IO = 5,           /**< the system refused a request: a file cannot be read or written, the
                 disk is full, or memory is exhausted */
  DPC_INTERRUPTED = 130 /**< stopped by a signal; with --checkpoint, the first signal lets the run
                             save its steps */
};

/** Message of the calling thread's latest failure. Never null. The string is
 * valid until the next failing call of that thread. */
const char *dpc_last_error(void);

/** The name of a status: "ok", "invalid input", "peer failure", ... Never null,
 * even for an unknown code. */
const char *dpc_status_name(dpc_status_t status);

#ifdef __cplusplus
}
#endif
#endif /* DPC_STATUS_H */

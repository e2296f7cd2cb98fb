/* Status codes of the runtime. A produced program exits with the same code,
 * which names the culprit: the input, the command line, a peer, ... */
#ifndef DPC_STATUS_H
#define DPC_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The result of a runtime call: DPC_OK, or the class of the failure. The
 * message is in dpc_last_error(). */
typedef int32_t dpc_status_t;

enum {
  DPC_OK = 0,
  DPC_INVALID = 1,      /**< the input or the request is wrong: a data file, a shape,
                      a value out of range */
  DPC_USAGE = 2,        /**< the command line is wrong */
  DPC_PEER = 3,         /**< another rank or the transport failed; the message names the
                   rank */
  DPC_NUMERIC = 4,      /**< a value that must be finite is not; the message names
                      step and tensor */
  DPC_IO = 5,           /**< a file or a system resource: unreadable, unwritable, full,
                 out of memory */
  DPC_INTERRUPTED = 130 /**< stopped by a signal after a checkpoint */
};

/** Message of the calling thread's latest failure; never null, valid until the
 * next failing call of that thread. */
const char *dpc_last_error(void);

/** "ok", "invalid input", "peer failure", ...: never null, also for unknown
 * codes. */
const char *dpc_status_name(dpc_status_t status);

#ifdef __cplusplus
}
#endif
#endif /* DPC_STATUS_H */

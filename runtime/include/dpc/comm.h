/* Communication among the ranks of one program: a function table that every
 * transport fills. */
#ifndef DPC_COMM_H
#define DPC_COMM_H

#include "dpc/status.h"
#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One communication, see the table in dpc/action.h. */
typedef struct dpc_comm_op_t {
  uint32_t op;     /**< DPC_OP_* */
  uint32_t family; /**< group family index */
  uint32_t peer;   /**< root or other end, index in the group */
  uint32_t dtype;
  uint32_t reduction; /**< DPC_SUM, ... */
  uint32_t location;  /**< location index for messages and traces, or DPC_NONE */
  uint64_t count;     /**< elements */
  uint64_t buffer_id; /**< identity of the logical buffer: members must agree */
  const void *in;
  void *out;
  uint32_t flags; /**< DPC_COMM_ANNOUNCED */
  uint32_t reserved;
} dpc_comm_op_t;

enum {
  /** The members announce the operation and compare the announcements, but no
   * data moves and `in` and `out` are ignored. For tensors that are moved by
   * other means, such as NCCL. */
  DPC_COMM_ANNOUNCED = 1
};

/** Identifies a started operation until its wait. 0 is never a valid request. */
typedef uint64_t dpc_request_t;

/** Operations and traffic since the communicator was created. */
typedef struct dpc_comm_stats_t {
  uint64_t operations;
  uint64_t bytes;      /**< payload: count * element size of each operation */
  uint64_t exposed_ns; /**< time spent in wait */
} dpc_comm_stats_t;

struct dpc_comm;

/** Buffer id of the runtime's own exchanges, such as votes. An emulated link
 * does not delay them. */
#define DPC_CONTROL_BUFFER 0xffffffffffffffffull

/** The functions of a transport. Only one thread at a time calls a communicator.
 * A failure is DPC_PEER (the message names the rank at fault) or DPC_INVALID (a
 * bad argument of this rank). After DPC_PEER every later call on this rank
 * fails with DPC_PEER too, and all other ranks fail within a second or at their
 * next wait. No call waits for ever. */
typedef struct dpc_comm_vtable_t {
  uint32_t struct_size;
  const char *name; /**< "local" */
  /** Allocates `bytes` of zeros, aligned to DPC_ALIGNMENT, from the memory that
   * the options promised for this rank. The caller may use it until release.
   * `in` and `out` of an operation each lie in one such allocation. DPC_INVALID
   * if the allocations exceed the promised memory. */
  dpc_status_t (*allocate)(struct dpc_comm *comm, uint64_t bytes, void **out_memory);
  /** Starts `op` without waiting for data of the peers. It waits only if 64
   * operations of the group are outstanding, until one of them completes. */
  dpc_status_t (*start)(struct dpc_comm *comm, const dpc_comm_op_t *op, dpc_request_t *out_request);
  /** Waits for one operation. Afterwards `out` is complete, and `in` may be
   * written. */
  dpc_status_t (*wait)(struct dpc_comm *comm, dpc_request_t request);
  /** DPC_OK, or DPC_PEER if a rank has failed. Returns at once. */
  dpc_status_t (*check)(struct dpc_comm *comm);
  /** Publishes to all ranks that this one failed, so that no rank waits for it.
   * Returns 1 if this is the first failure of the run, 0 if another rank
   * published one before. */
  uint32_t (*abort)(struct dpc_comm *comm, const char *reason);
  /** 1 if another rank reports the run's failure to the user: either the rank
   * that failed and published it with abort, or one rank among those that only
   * noticed it. */
  uint32_t (*told_elsewhere)(struct dpc_comm *comm);
  /** Tells the peers that this rank leaves on purpose, then frees all memory. */
  void (*release)(struct dpc_comm *comm);
} dpc_comm_vtable_t;

/** The part of a communicator that all transports have in common. */
typedef struct dpc_comm {
  const dpc_comm_vtable_t *vtable;
  uint32_t rank;
  uint32_t world_size;
  uint32_t sees_peers; /**< 1: a rank can open files of another rank under /proc/PID/fd, because all
                            are processes of one user on one host; 0: ranks can only exchange
                            messages */
  uint32_t reserved;
  dpc_comm_stats_t stats;
} dpc_comm_t;

/** Options for meeting the other ranks. */
typedef struct dpc_comm_options_t {
  uint32_t struct_size;
  uint32_t rank;
  uint32_t world_size;
  uint32_t family_count;
  const dpc_group_family_t *families; /**< at least family 0 */
  const uint64_t *memory_bytes;       /**< [world_size] total bytes that each rank allocates, with
                                           every allocation rounded up to DPC_ALIGNMENT */
  const uint8_t *plan_hash;           /**< 32 bytes; ranks with another hash are refused */
  const char *rendezvous;             /**< "tcp://127.0.0.1:29500", "file:///dir" (a
                               directory of mode 0700); null for world size 1 */
  const char *token; /**< 64 hex digits, the secret of the run; null is allowed only with file:// */
  int32_t listen_fd; /**< rank 0 with tcp://: a listening socket made by the
                        launcher, or -1 */
  uint32_t reserved;
  double timeout_seconds; /**< longest wait for peers; 0 means 300 */
  double frozen_seconds;  /**< a rank whose heartbeat does not advance for so long counts as frozen;
                               0 means 10, or the timeout if that is shorter */
  double bandwidth;       /**< emulated link, bytes per second; 0: as fast as memory */
  double latency;         /**< emulated link, seconds per message; 0: none */
} dpc_comm_options_t;

/** A way for ranks to communicate. The table of transports is in
 * runtime/src/comm/transports; docs/adding-a-transport.md explains how to add
 * one. */
typedef struct dpc_transport_t {
  const char *name;     /**< in --comm=NAME */
  const char *settings; /**< settings that may follow the name in the option, for --help:
                             "[,latency=20us]", or "" */
  const char *summary;  /**< a few words that describe the transport, for --help */
  /** Meets the other ranks and allocates the memory that they promise.
   * Collective. DPC_INVALID or DPC_USAGE for a bad request, DPC_PEER if a rank
   * does not come. */
  dpc_status_t (*create)(const dpc_comm_options_t *options, dpc_comm_t **out_comm);
} dpc_transport_t;

/** Transport number `index` of this runtime, or null if there are not that many.
 * Transport 0 is the default. */
const dpc_transport_t *dpc_transport_at(uint32_t index);
/** The transport of that name; the default one for null. Returns null if there
 * is none, with a message in dpc_last_error() that lists the names. */
const dpc_transport_t *dpc_transport_find(const char *name);

/** Creates a communicator of the named transport; null names the default one.
 * DPC_USAGE for an unknown name, otherwise the status of the transport's
 * `create`. */
dpc_status_t dpc_comm_create(const char *transport, const dpc_comm_options_t *options,
                             dpc_comm_t **out_comm);

/** Starts an operation and waits for it. */
dpc_status_t dpc_comm_run(dpc_comm_t *comm, const dpc_comm_op_t *op);
/** Barrier of family 0. */
dpc_status_t dpc_comm_barrier(dpc_comm_t *comm);
/** Calls `release` of the vtable; null is allowed. */
void dpc_comm_release(dpc_comm_t *comm);

#ifdef __cplusplus
}
#endif
#endif /* DPC_COMM_H */

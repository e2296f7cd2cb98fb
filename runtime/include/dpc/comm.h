/* Communication among the ranks of one program: a table of functions that every
 * transport (shared memory, sockets) fills with its own functions. */
#ifndef DPC_COMM_H
#define DPC_COMM_H

#include "dpc/status.h"
#include "dpc/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/** One communication. The table in dpc/action.h says which buffers it has. */
typedef struct dpc_comm_op_t {
  uint32_t op;     /**< DPC_OP_* */
  uint32_t family; /**< group family index */
  uint32_t peer;   /**< index in the group: the root, or the other rank of SEND and RECV */
  uint32_t dtype;
  uint32_t reduction; /**< DPC_SUM, ... */
  uint32_t location;  /**< location index for messages and traces, or DPC_NONE */
  uint64_t count;     /**< elements */
  uint64_t buffer_id; /**< identifies the logical buffer; equal on all members of the group */
  const void *in;
  void *out;
  uint32_t flags; /**< DPC_COMM_ANNOUNCED */
  uint32_t reserved;
} dpc_comm_op_t;

enum {
  /** The members announce the operation and compare their announcements, but
   * the transport moves no data and ignores `in` and `out`. Used for tensors
   * that the transport does not move, because for example NCCL moves them. */
  DPC_COMM_ANNOUNCED = 1
};

/** Identifies a started operation until the call of `wait` for it. 0 is never a
 * valid request. */
typedef uint64_t dpc_request_t;

/** Operations and traffic since the communicator was created. */
typedef struct dpc_comm_stats_t {
  uint64_t operations;
  uint64_t bytes;      /**< payload: the sum of count * element size over all operations */
  uint64_t exposed_ns; /**< total time spent in calls of wait */
} dpc_comm_stats_t;

struct dpc_comm;
struct dpc_recorder;

/** The buffer_id of operations that move data of the runtime itself, for example
 * votes. A transport that emulates a slow link does not delay these operations. */
#define DPC_CONTROL_BUFFER 0xffffffffffffffffull

/** The functions of a transport. Only one thread at a time calls a communicator. A
 * failure is DPC_PEER (the message names the rank at fault), DPC_INVALID (a bad
 * argument of this rank) or DPC_IO (this rank has no memory left). After DPC_PEER,
 * each later `start` and `check` on this rank fails too, and so does a `wait` for
 * an operation that is not complete. The same then holds on all other ranks, and a
 * rank that is waiting fails within a second. A call that waits for peers fails
 * with DPC_PEER after the timeout. */
typedef struct dpc_comm_vtable_t {
  uint32_t struct_size;
  const char *name; /**< "local"; never the name of a choice */
  /** Allocates `bytes` of zeros, aligned to DPC_ALIGNMENT, from the memory that
   * the options promised for this rank (`memory_bytes`). The caller may use the
   * memory until release. Each `in` and each `out` of an operation must lie
   * inside one allocation. Returns DPC_INVALID if the allocations exceed the
   * promised memory. */
  dpc_status_t (*allocate)(struct dpc_comm *comm, uint64_t bytes, void **out_memory);
  /** Starts `op` without waiting for data of the peers. But if 64 operations of
   * the group are outstanding, the call may first wait until one of them
   * completes. */
  dpc_status_t (*start)(struct dpc_comm *comm, const dpc_comm_op_t *op, dpc_request_t *out_request);
  /** Waits for one operation. Afterwards `out` is complete, and the caller may
   * write `in` again. */
  dpc_status_t (*wait)(struct dpc_comm *comm, dpc_request_t request);
  /** Returns DPC_PEER if a rank has failed, else DPC_OK. Does not wait. */
  dpc_status_t (*check)(struct dpc_comm *comm);
  /** Publishes to all ranks that this rank failed, so that the other ranks stop
   * waiting for it. Returns 1 if this is the first failure of the run, 0 if a
   * failure was published earlier. */
  uint32_t (*abort)(struct dpc_comm *comm, const char *reason);
  /** 1 if another rank reports the run's failure to the user, so that this rank
   * must not. If the failed rank called abort, it reports the failure. Otherwise
   * the transport chooses one of the ranks that noticed the failure. */
  uint32_t (*told_elsewhere)(struct dpc_comm *comm);
  /** Tells the peers that this rank leaves on purpose, so that they do not report
   * it as failed. Then frees all memory of the communicator. Returns DPC_PEER if
   * another rank has failed, meanwhile or before, and this rank reports it to the
   * user, else DPC_OK. A transport that does not wait for the other ranks returns
   * DPC_OK. */
  dpc_status_t (*release)(struct dpc_comm *comm);
} dpc_comm_vtable_t;

/** The part of a communicator that all transports have in common. */
typedef struct dpc_comm {
  const dpc_comm_vtable_t *vtable;
  uint32_t rank;
  uint32_t world_size;
  const uint32_t *hosts; /**< [world_size] for each rank, the lowest rank of its host. Ranks of one
                              host can open each other's files under /proc/PID/fd. If it is not
                              known that a rank can open files of another rank, the rank has a host
                              of its own */
  dpc_comm_stats_t stats;
  struct dpc_recorder *recorder; /**< records the operations of dpc_comm_run and dpc_comm_barrier; a
                                      session sets it, and transports leave it null */
} dpc_comm_t;

/** Options with which a rank meets the other ranks and creates a communicator. */
typedef struct dpc_comm_options_t {
  uint32_t struct_size;
  uint32_t rank;
  uint32_t world_size;
  uint32_t family_count;
  const dpc_group_family_t *families; /**< at least family 0 */
  const uint64_t *memory_bytes;       /**< [world_size] total bytes that each rank will allocate,
                                           with the size of every allocation rounded up to
                                           DPC_ALIGNMENT */
  const uint8_t *plan_hash;           /**< 32 bytes; ranks with another hash are refused */
  const char *rendezvous;             /**< where the ranks meet: "tcp://127.0.0.1:29500", or
                               "file:///dir" (a directory of mode 0700); null for world size 1 */
  const char *token; /**< 64 hex digits, the secret of the run; null is allowed only with file:// or
                          for world size 1 */
  int32_t listen_fd; /**< rank 0 with tcp://: a listening socket made by the
                        launcher, or -1 */
  uint32_t reserved;
  double timeout_seconds; /**< longest wait for peers; 0 means 300. Ranks wait at most 60 seconds
                               for each other to join */
  double frozen_seconds;  /**< a rank whose heartbeat does not advance for this time counts as
                               frozen; 0 means half the timeout, but at least 2 and at most 10 */
  double bandwidth;       /**< emulated link, bytes per second; 0: as fast as memory */
  double latency;         /**< emulated link, seconds per message; 0: none */
  const char *listen; /**< address of this host at which this rank listens for other ranks; null:
                               the address with which the rank has reached rank 0 */
} dpc_comm_options_t;

/** A way for ranks to communicate, or a choice among such ways. The table of transports is in
 * runtime/src/comm/transports; docs/adding-a-transport.md explains how to add
 * one. */
typedef struct dpc_transport_t {
  const char *name;     /**< in --comm=NAME */
  const char *settings; /**< for --help: the settings that may follow the name in the option, e.g.
                             "[,latency=20us]", or "" */
  const char *summary;  /**< for --help: a few words that describe the transport */
  /** Collective: every rank must call it. Meets the other ranks and reserves the
   * memory that the options promise. Returns DPC_INVALID or DPC_USAGE for a bad
   * request, and DPC_PEER if a rank does not come. */
  dpc_status_t (*create)(const dpc_comm_options_t *options, dpc_comm_t **out_comm);
} dpc_transport_t;

/** Transport number `index` of this runtime, or null if `index` is not below the
 * number of transports. Transport 0 is the default. */
const dpc_transport_t *dpc_transport_at(uint32_t index);
/** The transport called `name`, or the default transport if `name` is null.
 * Returns null for an unknown name; dpc_last_error() then lists the known ones. */
const dpc_transport_t *dpc_transport_find(const char *name);

/** Creates a communicator of the named transport; null names the default one.
 * DPC_USAGE for an unknown name, otherwise the status of the transport's
 * `create`. */
dpc_status_t dpc_comm_create(const char *transport, const dpc_comm_options_t *options,
                             dpc_comm_t **out_comm);

/** Starts an operation and waits until it is complete. */
dpc_status_t dpc_comm_run(dpc_comm_t *comm, const dpc_comm_op_t *op);
/** Waits until all ranks have called it: a barrier of family 0. */
dpc_status_t dpc_comm_barrier(dpc_comm_t *comm);
/** The number of different hosts in `hosts`. */
uint32_t dpc_comm_host_count(const dpc_comm_t *comm);
/** Calls the communicator's `release`. Does nothing if `comm` is null. */
dpc_status_t dpc_comm_release(dpc_comm_t *comm);

#ifdef __cplusplus
}
#endif
#endif /* DPC_COMM_H */

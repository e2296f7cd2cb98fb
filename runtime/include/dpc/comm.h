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
  /** The members say what they start and compare it, and nothing moves: `in` and
     `out` are not looked at. For tensors that something else moves. */
  DPC_COMM_ANNOUNCED = 1
};

/** Names a started operation until it has been waited for. 0 is never a valid
 * request. */
typedef uint64_t dpc_request_t;

/** Time and traffic since the communicator was made. */
typedef struct dpc_comm_stats_t {
  uint64_t operations;
  uint64_t bytes;      /**< payload: count * element size of each operation */
  uint64_t exposed_ns; /**< time spent in wait */
} dpc_comm_stats_t;

struct dpc_comm;

/** Buffer id of the runtime's own exchanges: an emulated link does not delay
 * them. */
#define DPC_CONTROL_BUFFER 0xffffffffffffffffull

/** What a transport does. All calls of one communicator come from one thread at
 * a time. A failure is DPC_PEER (the message names the guilty rank) or
 * DPC_INVALID (a bad argument of this rank); after DPC_PEER every later call
 * fails alike, and all other ranks fail too, within a second or at their next
 * wait. No call waits for ever. */
typedef struct dpc_comm_vtable_t {
  uint32_t struct_size;
  const char *name; /**< "local" */
  /** Takes `bytes` of zeros, aligned to DPC_ALIGNMENT, from the memory that the
   * options promised to this rank. They are the caller's until release. What an
   * operation names as `in` or `out` lies in one such piece. DPC_INVALID when
   * more is asked for than was promised. */
  dpc_status_t (*allocate)(struct dpc_comm *comm, uint64_t bytes, void **out_memory);
  /** Starts `op` without waiting for the peers' data; at most it waits for room
   * when 64 operations of a group are outstanding. */
  dpc_status_t (*start)(struct dpc_comm *comm, const dpc_comm_op_t *op, dpc_request_t *out_request);
  /** Waits for one operation: then `out` is complete and `in` free. */
  dpc_status_t (*wait)(struct dpc_comm *comm, dpc_request_t request);
  /** DPC_OK, or DPC_PEER when a rank has failed. Waits for nothing. */
  dpc_status_t (*check)(struct dpc_comm *comm);
  /** Publishes to all ranks that this one failed, so that none waits for it.
   * Returns 1 if this is the run's first failure, 0 if another one has been
   * published before. */
  uint32_t (*abort)(struct dpc_comm *comm, const char *reason);
  /** 1 if another rank tells the run's failure: the failing one, which
   * published it with abort, or one of those that only saw it. */
  uint32_t (*told_elsewhere)(struct dpc_comm *comm);
  /** Tells the peers that this rank leaves on purpose, and frees everything. */
  void (*release)(struct dpc_comm *comm);
} dpc_comm_vtable_t;

/** A communicator as its users see it. */
typedef struct dpc_comm {
  const dpc_comm_vtable_t *vtable;
  uint32_t rank;
  uint32_t world_size;
  uint32_t sees_peers; /**< 1: a rank can open what another one holds, under
                          /proc/PID/fd: they are processes of one host and one
                          user; 0: all that ranks can do is send messages */
  uint32_t reserved;
  dpc_comm_stats_t stats;
} dpc_comm_t;

/** How to meet the other ranks. */
typedef struct dpc_comm_options_t {
  uint32_t struct_size;
  uint32_t rank;
  uint32_t world_size;
  uint32_t family_count;
  const dpc_group_family_t *families; /**< at least family 0 */
  const uint64_t *memory_bytes;       /**< [world_size] what each rank allocates in
                               all, each piece rounded up to DPC_ALIGNMENT */
  const uint8_t *plan_hash;           /**< 32 bytes; ranks with another one are refused */
  const char *rendezvous;             /**< "tcp://127.0.0.1:29500", "file:///dir" (a
                               directory of mode 0700); null for world size 1 */
  const char *token; /**< 64 hex digits, the run's secret; null: only with file:// */
  int32_t listen_fd; /**< rank 0 with tcp://: a listening socket made by the
                        launcher, or -1 */
  uint32_t reserved;
  double timeout_seconds; /**< longest wait for peers; 0: 300 */
  double frozen_seconds;  /**< a rank whose heartbeat stands still that long
                             counts as frozen; 0: 10, or the timeout if it is
                             shorter */
  double bandwidth;       /**< emulated link, bytes per second; 0: as fast as memory */
  double latency;         /**< emulated link, seconds per message; 0: none */
} dpc_comm_options_t;

/** A way for ranks to communicate. runtime/src/comm/transports has the table of
 * them, docs/adding-a-transport.md says how one is added. */
typedef struct dpc_transport_t {
  const char *name;     /**< in --comm=NAME */
  const char *settings; /**< what may follow the name there, for --help:
                           "[,latency=20us]", or "" */
  const char *summary;  /**< what it is, for --help: a few words */
  /** Meets the other ranks and takes the memory that they promise. Collective.
   * A bad request is DPC_INVALID or DPC_USAGE, a rank that does not come
   * DPC_PEER. */
  dpc_status_t (*create)(const dpc_comm_options_t *options, dpc_comm_t **out_comm);
} dpc_transport_t;

/** The transports that this runtime has, the default one first; null past the
 * last. */
const dpc_transport_t *dpc_transport_at(uint32_t index);
/** The transport of that name (null: the default one); null, with a text in
 * dpc_last_error() that lists the names, if there is none. */
const dpc_transport_t *dpc_transport_find(const char *name);

/** Makes the communicator of a transport; its name may be null. DPC_USAGE for
 * an unknown one, else what its `create` says. */
dpc_status_t dpc_comm_create(const char *transport, const dpc_comm_options_t *options,
                             dpc_comm_t **out_comm);

/** start and wait in one. */
dpc_status_t dpc_comm_run(dpc_comm_t *comm, const dpc_comm_op_t *op);
/** Barrier of family 0. */
dpc_status_t dpc_comm_barrier(dpc_comm_t *comm);
/** Calls the table's release; null is allowed. */
void dpc_comm_release(dpc_comm_t *comm);

#ifdef __cplusplus
}
#endif
#endif /* DPC_COMM_H */

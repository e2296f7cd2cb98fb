// The functions of libdpc_gloo.so. The interface of Gloo is C++ and changes between its versions.
// So only this library is compiled with it, and a program opens the library at run time. The table
// has the types of C, and no exception leaves its functions.
#ifndef DPC_RUNTIME_SRC_COMM_GLOO_TABLE_H
#define DPC_RUNTIME_SRC_COMM_GLOO_TABLE_H

#include <cstdint>

namespace dpc::gloo {

/// Grows with every change of this file.
constexpr uint32_t kTableVersion = 1;

/// Gloo's context of one rank: a device that listens at one address, and a pair of sockets for each
/// other rank.
struct Engine;
/// A message that is being sent or received.
struct EngineMove;

/// The text of a failure, in one line. It may be cut.
struct Reason {
  char text[256];
};

/// The place at which a rank listens for another one, as Gloo writes it.
struct Place {
  uint32_t size; ///< of `bytes`
  char bytes[192];
};

enum Outcome : int32_t { kDone = 0, kFailed = 1, kAborted = 2 };

/// Functions that return kFailed give the reason. After a failure of a move, only `abort`,
/// `release`, `shut` and `close` may be called.
struct Table {
  uint32_t version; ///< kTableVersion; the first field in all versions
  /// Listens for each other rank at `host`, the number of an address of this host. `connect` then
  /// waits at most `connectSeconds` for a rank. The threads of Gloo inherit the signal mask.
  Outcome (*open)(uint32_t rank, uint32_t worldSize, const char *host, double connectSeconds,
                  Engine **outEngine, Reason *reason);
  /// The place at which this rank listens for `peer`.
  Outcome (*place)(Engine *engine, uint32_t peer, Place *out, Reason *reason);
  /// Connects to `peer`, which listens at `place`. Waits until the peer does the same, or until
  /// another thread calls `shut`.
  Outcome (*connect)(Engine *engine, uint32_t peer, const Place *place, Reason *reason);
  /// Begins to move `bytes` bytes from or to `memory`.
  Outcome (*post)(Engine *engine, uint32_t peer, bool isSend, void *memory, uint64_t bytes,
                  EngineMove **outMove, Reason *reason);
  /// Waits for a move. Returns kAborted if another thread calls `abort`, or has called it since the
  /// latest wait. The move then still goes on, and may be waited for again.
  Outcome (*wait)(EngineMove *move, Reason *reason);
  void (*abort)(EngineMove *move);
  /// Ends a move. Afterwards its memory is not used.
  void (*release)(EngineMove *move);
  /// Fails if the connection with `peer` is broken. Does not wait. A move of which a part had moved
  /// at that time never ends.
  Outcome (*probe)(Engine *engine, uint32_t peer, Reason *reason);
  /// Closes all connections, so that no thread waits in `connect`.
  void (*shut)(Engine *engine);
  /// Frees the engine. All moves must have been released.
  void (*close)(Engine *engine);
};

/// The one symbol of the library, and its type.
constexpr const char *kTableSymbol = "dpc_gloo_table";
using TableFunction = const Table *(*)();

} // namespace dpc::gloo

#endif // DPC_RUNTIME_SRC_COMM_GLOO_TABLE_H

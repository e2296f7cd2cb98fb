#ifndef DPC_PASSES_EXPLAIN_RESHARDTABLE_H
#define DPC_PASSES_EXPLAIN_RESHARDTABLE_H

#include "passes/Explain/Report.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace dpc {

/// One row of the table: a group of reshards of one step whose names differ only in numbers, such
/// as the corresponding reshards of repeated layers.
struct ReshardRow {
  /// The number of reshards. A reshard in a loop over microbatches counts once.
  int64_t count = 0;
  /// The bytes that a rank sends for these reshards in one step, over all microbatches, and the
  /// time in seconds that the cost model expects for them.
  double bytes = 0, seconds = 0;
  /// The part of the step in which the value is resharded: forward, backward or update.
  std::string pass;
  /// The collectives with their axes, e.g. "reduce-scatter model, all-gather data+model".
  std::string steps;
  /// `value` names the resharded value: a tensor of the program, or the node that computes the
  /// value. `reader` names the node that reads the resharded value.
  std::string value, reader;
  /// Why the value is resharded, as text for users.
  std::string cause;
  /// Options of dpc-compile, separated by spaces, that remove the cause of the reshard; "-" if
  /// there are none. Usually these options avoid the reshard, but another reader may still need it.
  std::string request;
};

/// The reshards of a function, and their communication. A reshard is needed if an op reads a value
/// in another layout than that in which the value is computed.
struct ReshardTable {
  /// The function's name.
  std::string function = "step";
  /// The rows, sorted by bytes. The row with the most bytes comes first.
  std::vector<ReshardRow> rows;
  /// The reshards of parameter gradients over axes that shard the batch, usually all-reduces. They
  /// are the communication of data parallelism, which no request can avoid. Therefore they are not
  /// rows of the table.
  ReshardRow gradients;
  /// The number of reshards that send nothing, because each rank only takes a slice of a tensor
  /// that it already has.
  int64_t local = 0;
  /// The attribute `dist.cost` of the function: the seconds of computation, the seconds of
  /// communication, and the bytes sent, as the cost model expects them.
  double computing = 0, moving = 0, sent = 0;
};

/// Returns the table of @step, or of @infer if there is no @step. The table has the collectives to
/// which `dpc-partition` will lower each reshard. nullopt if the module has neither function, or no
/// machine. Needs: level `placed`.
std::optional<ReshardTable> collectReshards(mlir::ModuleOp module);

/// Adds the table as a section of the report.
void addReshards(ExplainReport &report, const ReshardTable &table);

/// If some row sends more than `limit` bytes, returns one line about the row that sends the most
/// bytes. Otherwise returns nullopt.
std::optional<std::string> findReshardAbove(const ReshardTable &table, int64_t limit);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDTABLE_H

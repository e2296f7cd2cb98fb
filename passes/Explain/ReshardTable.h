#ifndef DPC_PASSES_EXPLAIN_RESHARDTABLE_H
#define DPC_PASSES_EXPLAIN_RESHARDTABLE_H

#include "passes/Explain/Report.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace dpc {

/// Reshards of one step whose names differ only in numbers, as the reshards of repeated layers do.
struct ReshardRow {
  /// The number of reshards. A reshard that several microbatches run counts once.
  int64_t count = 0;
  /// The bytes that a rank sends for these reshards in one step, over all microbatches, and the
  /// modelled time in seconds.
  double bytes = 0, seconds = 0;
  /// forward, backward or update.
  std::string pass;
  /// The collectives with their axes, e.g. "reduce-scatter model, all-gather data+model".
  std::string steps;
  /// `value` names the resharded value: a tensor of the program, or the node that computes it.
  /// `reader` names the node that reads the result.
  std::string value, reader;
  /// Why the value is resharded, in words.
  std::string cause;
  /// Options of dpc-compile, separated by spaces, that keep the cause of the reshard from being
  /// sharded, or "-". They mostly avoid the reshard; another reader may still need it.
  std::string request;
};

/// The communication of a function that exists because values are read in other layouts than the
/// layouts in which they are computed.
struct ReshardTable {
  /// The function's name.
  std::string function = "step";
  /// Sorted by bytes, most first.
  std::vector<ReshardRow> rows;
  /// The reshards of parameter gradients over axes that shard the batch, mostly all-reduces. This
  /// is the communication of data parallelism, so it is no row of the table.
  ReshardRow gradients;
  /// The number of reshards that send nothing, because each rank slices a tensor that it has.
  int64_t local = 0;
  /// `dist.cost` of the function: seconds and bytes of the model.
  double computing = 0, moving = 0, sent = 0;
};

/// Returns the table of @step, or of @infer if there is no @step, with the collectives to which
/// `dpc-partition` lowers each reshard. nullopt if the module has neither function or no machine.
/// Needs: level `placed`.
std::optional<ReshardTable> collectReshards(mlir::ModuleOp module);

/// Adds the table as a section of the report.
void addReshards(Report &report, const ReshardTable &table);

/// Returns one line about the row that sends the most bytes if it sends more than `limit` bytes,
/// otherwise nullopt.
std::optional<std::string> findReshardAbove(const ReshardTable &table, int64_t limit);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDTABLE_H

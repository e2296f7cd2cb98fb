#ifndef DPC_PASSES_EXPLAIN_RESHARDTABLE_H
#define DPC_PASSES_EXPLAIN_RESHARDTABLE_H

#include "passes/Explain/Report.h"

#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace dpc {

/// Reshards of one step that differ by numbers in names alone, as those of
/// repeated layers do.
struct ReshardRow {
  /// Reshards: each counts once, however many microbatches run it.
  int64_t count = 0;
  /// What a rank sends for all of them in a step, over all microbatches, and
  /// the modelled time of that.
  double bytes = 0, seconds = 0;
  /// forward, backward or update.
  std::string pass;
  /// "reduce-scatter model, all-gather data+model".
  std::string steps;
  /// What is moved: the tensor of the program or the node that made it; and the
  /// node that reads it.
  std::string value, reader;
  /// Why it is moved, in words.
  std::string cause;
  /// The options of dpc-compile, spaces between, with which what causes the reshard is
  /// not divided, or "-". Mostly there is none then; another reader may still need it.
  std::string request;
};

/// What a function moves because values are read in other layouts than they were
/// made in.
struct ReshardTable {
  /// The function's name.
  std::string function = "step";
  /// What moves most bytes first.
  std::vector<ReshardRow> rows;
  /// What becomes gradients of parameters over axes that cut the batch, mostly
  /// their sums: what data parallelism is.
  ReshardRow gradients;
  /// Reshards that send nothing: each rank takes its part of what it has.
  int64_t local = 0;
  /// `dist.cost` of the function: seconds and bytes of the model.
  double computing = 0, moving = 0, sent = 0;
};

/// The table of @step, or of @infer where there is none, of a module at level
/// `placed`: what `dpc-partition` makes of the reshards in it. nullopt where the
/// module has neither, or no machine.
std::optional<ReshardTable> collectReshards(mlir::ModuleOp module);

/// Adds the table as a section of the page.
void addReshards(Report &report, const ReshardTable &table);

/// One line about the first row that sends more than `limit` bytes, or nullopt.
std::optional<std::string> findReshardAbove(const ReshardTable &table, int64_t limit);

} // namespace dpc

#endif // DPC_PASSES_EXPLAIN_RESHARDTABLE_H

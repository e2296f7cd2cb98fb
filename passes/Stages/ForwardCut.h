// States the problem of cutting the forward pass of a function into the chunks of a pipeline.

#ifndef DPC_PASSES_STAGES_FORWARDCUT_H
#define DPC_PASSES_STAGES_FORWARDCUT_H

#include "dialects/Dist/IR/Collectives.h"
#include "planning/Prices.h"
#include "planning/StageCut.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <string>
#include <vector>

namespace dpc {

/// The ops of a forward pass that a cut assigns to chunks, and the problem of cutting them.
///
/// The ops are those of the main loop over microbatches: the loop that computes the most. A cut
/// assigns an op if its result depends on both an input and a state. All other ops can run on
/// several chunks: an op that reads no state runs wherever its result is read, and an op that reads
/// states but no input, e.g. the conversion of a weight, runs on each chunk that holds the states.
class ForwardCut {
public:
  /// `roots` are the results of the function that its forward pass computes. If `trains` is set,
  /// the function has a backward pass, and its ops count as costs of the chunks that will run them.
  ForwardCut(mlir::func::FuncOp function, llvm::ArrayRef<mlir::Value> roots, bool trains,
             const MeshPrices &prices);

  /// The ops that a cut assigns, in program order: entry i is op i of the problem.
  llvm::ArrayRef<mlir::Operation *> getOps() const { return ops; }
  /// The problem, with one chunk and without a capacity.
  const StageCutProblem &getProblem() const { return problem; }
  /// By name of a state that the ops read: the numbers of the ops that read it, in increasing
  /// order.
  const std::map<std::string, std::vector<unsigned>> &getStateReaders() const { return readers; }

private:
  /// The things that a value depends on.
  struct Origin {
    /// The number of the op that computes the value; -1 if the op has no number.
    int64_t op = -1;
    /// Whether the value depends on an input of the function. False if `op` is a number.
    bool readsInput = false;
    /// The states, as arguments of the function, on which the value depends. Empty if `op` is a
    /// number.
    llvm::SmallVector<unsigned, 2> states;
  };

  /// The origin of an op's results from those of its operands, if the op has no number.
  Origin joinOperands(mlir::Operation *op) const;
  int64_t findPlace(mlir::Operation *op, llvm::ArrayRef<unsigned> states) const;
  void addForward(mlir::Block &block, const llvm::DenseSet<mlir::Operation *> &forward);
  void addOp(mlir::Operation *op, const Origin &origin);
  void addBackward(mlir::Block &block);
  void addAccumulations(dist::MicroOp loop);
  void addStates();

  mutable mlir::func::FuncOp function;
  const bool trains;
  const MeshPrices &prices;
  std::vector<mlir::Operation *> ops;
  StageCutProblem problem;
  std::map<std::string, std::vector<unsigned>> readers;
  // Looked up by key only.
  llvm::DenseMap<mlir::Value, Origin> origins;
  /// By result of a numbered op: its index in `problem.values`.
  llvm::DenseMap<mlir::Value, size_t> valueNumbers;
  /// By value that depends on inputs alone: the ops that read it, in increasing order.
  llvm::DenseMap<mlir::Value, std::vector<unsigned>> inputReaders;
};

} // namespace dpc

#endif // DPC_PASSES_STAGES_FORWARDCUT_H

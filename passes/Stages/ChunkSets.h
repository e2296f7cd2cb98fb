// The chunks of a pipeline on which the values of a program are available.

#ifndef DPC_PASSES_STAGES_CHUNKSETS_H
#define DPC_PASSES_STAGES_CHUNKSETS_H

#include "dialects/Dist/IR/Collectives.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <map>
#include <optional>
#include <string>

namespace dpc {

/// The chunks on which a value is available without a message. A value is available everywhere if
/// every chunk can compute it from inputs, constants and values that are available everywhere.
class ChunkSet {
public:
  /// The set of all chunks.
  ChunkSet() = default;
  explicit ChunkSet(llvm::ArrayRef<int64_t> chunks)
      : chunks(llvm::SmallVector<int64_t, 2>(chunks)) {}
  /// The set of one chunk.
  static ChunkSet only(int64_t chunk) { return ChunkSet(llvm::ArrayRef<int64_t>(chunk)); }

  bool isEverywhere() const { return !chunks; }
  bool contains(int64_t chunk) const { return !chunks || llvm::is_contained(*chunks, chunk); }
  /// The chunks in increasing order. The set must not be everywhere.
  llvm::ArrayRef<int64_t> getChunks() const { return *chunks; }

  /// The chunks that are in both sets; may be empty.
  ChunkSet intersect(const ChunkSet &other) const;
  /// The chunks that are in one of the sets.
  ChunkSet unite(llvm::ArrayRef<int64_t> others) const;
  bool isEmpty() const { return chunks && chunks->empty(); }
  bool operator==(const ChunkSet &other) const { return chunks == other.chunks; }

private:
  std::optional<llvm::SmallVector<int64_t, 2>> chunks;
};

/// By name of a state: the chunks that hold it. A state that is missing may be held by any chunk.
using StateHomes = std::map<std::string, ChunkSet, std::less<>>;

/// Reads and writes the attribute `dist.chunks` of an op or of an argument of a function. A missing
/// attribute means everywhere.
ChunkSet getChunks(mlir::Operation *op);
void setChunks(mlir::Operation *op, const ChunkSet &set);

/// The chunks of the values of one function, computed from its ops and from the homes of states.
///
/// An op is available on the chunks on which all its operands are. A chunk that receives a value
/// for its forward pass still has the value in its backward pass. If no chunk has all operands, one
/// chunk runs the op and receives operands:
/// - For the ops of each microbatch of a training step, it is the lowest chunk of the operands,
///   because gradients move from the last chunk to the first.
/// - For the ops of each microbatch of @eval and @infer, it is the highest chunk.
/// - For other ops, it is the chunk that receives the fewest bytes.
class ValueChunks {
public:
  /// An op that already has the attribute `dist.chunks` keeps its chunks. `trains` says if the
  /// function is a training step.
  ValueChunks(mlir::func::FuncOp function, const StateHomes &homes, bool trains);

  /// Adds a new value that every chunk can have.
  void addEverywhere(mlir::Value value) { sets[value] = ChunkSet(); }
  /// The chunks on which `value` can be computed. It must be a value that the function had when the
  /// object was made.
  const ChunkSet &get(mlir::Value value) const { return sets.find(value)->second; }
  /// Whether `op` runs once per microbatch, and not once per step. A function without a loop has
  /// one microbatch: the ops of its forward pass, and the ops on which an op that reads a value of
  /// the forward pass depends. In a function without a training step all ops count.
  bool isPerMicrobatch(mlir::Operation *op) const;

  /// Whether `op` is an op of the function that runs on chunks: no loop, and no op in a kernel.
  bool hasOp(mlir::Operation *op) const { return ops.contains(op); }
  /// The chunks on which `op` can run: those of its results.
  const ChunkSet &get(mlir::Operation *op) const { return ops.find(op)->second; }

private:
  bool isFromInputs(mlir::Operation *op) const;
  void findValuesFromInputs(mlir::Block &block);
  void findOpsOfMicrobatch(mlir::Block &block);
  /// Notes that an op of the forward pass reads `value` on `chunk`.
  void addReader(mlir::Value value, int64_t chunk);
  void visitBlock(mlir::Block &block);
  ChunkSet choose(mlir::Operation *op) const;
  /// The chunks that have `value` once the forward pass has run: those that can compute it, and
  /// those that receive it. For a value from inputs alone: the chunks whose forward pass reads it,
  /// because an op of the backward pass that reads it is the gradient of such an op.
  ChunkSet haveAfterForward(mlir::Value value) const;

  const bool trains;
  // Looked up by key only.
  llvm::DenseMap<mlir::Value, ChunkSet> sets;
  llvm::DenseMap<mlir::Operation *, ChunkSet> ops;
  /// The inputs of the function, and the values that are computed from inputs and constants alone.
  llvm::DenseSet<mlir::Value> fromInputs;
  /// By value: the chunks whose forward pass reads it, without those that compute it; in increasing
  /// order.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<int64_t, 1>> received;
  /// In a training step without a loop: the ops of its microbatch.
  llvm::DenseSet<mlir::Operation *> opsOfMicrobatch;
  bool hasLoop = false;
};

} // namespace dpc

#endif // DPC_PASSES_STAGES_CHUNKSETS_H

// Finds the values that each stage of a pipeline needs, and the messages that bring them there.

#ifndef DPC_PASSES_STAGES_STAGENEEDS_H
#define DPC_PASSES_STAGES_STAGENEEDS_H

#include "passes/Stages/ChunkSets.h"

#include "dialects/Dist/IR/Messages.h"

#include "llvm/ADT/DenseSet.h"

#include <map>
#include <set>

namespace dpc {

/// A message that brings a value from one stage to another.
struct StageMessage {
  int64_t from = 0, to = 0;
  /// Equal on both ends, and different for all messages of the program.
  int64_t number = 0;
  /// The chunk of the receiving stage that reads the value first. If the chunk before it is on the
  /// same stage too, both are one chunk here, the first one: no message separates them.
  int64_t chunk = 0;
  /// The chunk that computes the value.
  int64_t maker = 0;
  /// Whether `chunk` reads the value in its backward pass, because it comes before the chunk that
  /// computes the value.
  bool isBackward = false;
};

/// The values that the stages need. A stage needs the operands of its ops and the results that it
/// returns. It computes a needed value itself if one of its chunks can, and receives it otherwise.
class StageNeeds {
public:
  /// By chunk: its stage.
  explicit StageNeeds(llvm::ArrayRef<int64_t> stageOfChunk)
      : stageOfChunk(stageOfChunk), stages(*llvm::max_element(stageOfChunk) + 1) {}

  /// Adds the needs of the results of all `functions`. The functions have the attributes of
  /// dpc-assign-stages.
  void addFunctions(llvm::ArrayRef<mlir::func::FuncOp> functions);

  /// Whether `stage` has `value`: it computes, holds or receives it.
  bool has(mlir::Value value, int64_t stage) const { return known.count({value, stage}); }
  /// Whether `stage` runs `op`. A stage runs a loop if it runs an op or has a message in its body.
  bool runs(mlir::Operation *op, int64_t stage) const { return running.count({op, stage}); }
  /// Whether `stage` returns result `index` of `function`.
  bool returns(mlir::func::FuncOp function, unsigned index, int64_t stage) const;
  /// The messages that carry `value`, in the order in which they are sent.
  llvm::ArrayRef<StageMessage> getMessages(mlir::Value value) const;
  /// A sentence for each value that goes forward over more than one border between chunks.
  llvm::SmallVector<std::string> describeCrossings() const;
  /// The stages that take part in the reduction of `combine`, in increasing order.
  llvm::SmallVector<int64_t> getMembers(dist::CombineStagesOp combine) const;
  /// Whether `stage` adds the term `term` of a combined sum. One stage adds each term.
  bool isOwnTerm(mlir::Value term, int64_t stage) const {
    return stagesOf(chunksOf(term)).front() == stage;
  }
  /// The number of the reduction of `combine`.
  int64_t getNumber(dist::CombineStagesOp combine) const { return combines.lookup(combine).number; }

private:
  struct Combine {
    std::set<int64_t> members;
    int64_t number = 0;
  };

  void need(mlir::Value value, int64_t stage);
  /// Adds the needs of the values in `waiting`, until none is left.
  void addOperandsOfWaiting();
  /// Adds the needs of the op that computes `value` on `stage`, or the message that brings it.
  void addOperands(mlir::Value value, int64_t stage);
  void run(mlir::Operation *op, int64_t stage);
  void addCombine(dist::CombineStagesOp combine, int64_t stage);
  void addStateResults(llvm::ArrayRef<mlir::func::FuncOp> functions);
  void addUnreadStates(llvm::ArrayRef<mlir::func::FuncOp> functions);
  /// Sets the chunks and directions of all messages.
  void setChunksOfMessages();
  /// The chunks of `stage` whose ops read `value`, directly or through ops that the stage repeats.
  std::set<int64_t> readersOf(mlir::Value value, int64_t stage) const;
  bool isOn(int64_t stage, int64_t chunk) const {
    return chunk < int64_t(stageOfChunk.size()) && stageOfChunk[chunk] == stage;
  }
  /// The stages of the chunks of `set`, in increasing order.
  llvm::SmallVector<int64_t> stagesOf(const ChunkSet &set) const;
  ChunkSet chunksOf(mlir::Value value) const;

  const llvm::SmallVector<int64_t> stageOfChunk;
  const int64_t stages;
  int64_t nextNumber = 0;
  /// Values that are known to be needed, and whose operands are not yet added.
  llvm::SmallVector<std::pair<mlir::Value, int64_t>> waiting;
  // Looked up by key only.
  llvm::DenseSet<std::pair<mlir::Value, int64_t>> known;
  llvm::DenseSet<std::pair<mlir::Operation *, int64_t>> running;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<StageMessage, 1>> messages;
  llvm::DenseMap<mlir::Operation *, Combine> combines;
  llvm::DenseMap<mlir::Operation *, std::set<std::pair<unsigned, int64_t>>> returned;
};

} // namespace dpc

#endif // DPC_PASSES_STAGES_STAGENEEDS_H

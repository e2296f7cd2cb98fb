// The parts of a play that do not depend on the level of the program.

#ifndef DPC_PASSES_PLAY_PLAYTABLES_H
#define DPC_PASSES_PLAY_PLAYTABLES_H

#include "dialects/Dist/IR/Stages.h"
#include "planning/Prices.h"
#include "planning/StepPlay.h"

namespace dpc {

/// Collects the tables of the programs of a mesh.
class PlayTables {
public:
  explicit PlayTables(MeshPrices prices);

  /// Returns the number of the family of groups over `axes`, among the ranks with the given
  /// coordinates if there are any (MeshPrices::groupsOver).
  size_t familyOf(llvm::ArrayRef<llvm::StringRef> axes, llvm::ArrayRef<int64_t> coordinates);

  /// Adds the start of `operation` to `table`. Returns the number of the action, for addWait().
  static size_t addStart(PlayTable &table, const PlayOperation &operation, int64_t number);
  static void addWait(PlayTable &table, size_t started);
  static void addCompute(PlayTable &table, double seconds, int64_t number);

  /// Gives each rank the table of its program: table i is that of `programs[i]`.
  void placeRanks(llvm::ArrayRef<dist::RankProgram> programs);

  const MeshPrices prices;
  PlayProblem problem;
  /// The names of problem.families, as the record has them and traces of runs show them.
  std::vector<std::string> families;
};

} // namespace dpc

#endif // DPC_PASSES_PLAY_PLAYTABLES_H

#ifndef DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H
#define DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

#include "dpc/program.h"
#include "runtime/src/pieces/Segments.h"

#include <vector>

namespace dpc {

/// What `rank` writes of a state: all that it holds of it.
struct PlannedPiece {
  uint32_t state, rank;
  std::vector<Segments> segments;
};

/// Which rank writes what, so that each element of the state is written once:
/// of ranks that own the same elements of a state one does, the one that has
/// least to write so far. Every rank makes the same plan. In the order of the
/// states and ranks.
std::vector<PlannedPiece> planWriting(const dpc_program_t &program);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

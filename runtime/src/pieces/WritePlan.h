#ifndef DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H
#define DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/pieces/Segments.h"

#include <vector>

namespace dpc {

/// What `rank` writes of a state.
struct PlannedPiece {
  uint32_t state, rank;
  std::vector<Segments> segments;
};

/// Which rank writes what, so that each element of the state is written once: of
/// the ranks that own an element one writes it, the one that has least to write
/// so far. Where ranks own the same elements or none in common, each writes all
/// that it holds or nothing. Every rank makes the same plan. In the order of the
/// states and ranks. DPC_INVALID, with the state's name, if no rank owns one of
/// its elements.
dpc_status_t planWriting(const dpc_program_t &program, std::vector<PlannedPiece> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

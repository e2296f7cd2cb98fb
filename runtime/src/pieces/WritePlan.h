#ifndef DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H
#define DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/pieces/Segments.h"

#include <vector>

namespace dpc {

/// The elements of a state that the rank `rank` writes into its file of a checkpoint.
struct PlannedPiece {
  uint32_t state, rank;
  std::vector<Segments> segments;
};

/// Plans which rank writes which elements of a checkpoint, so that exactly one rank
/// writes each element. If several ranks own an element, the rank that has the least
/// to write so far writes it. Often, two ranks own either the same elements of a state
/// or no common element. Then each rank writes all elements of the state that it owns,
/// or none. Every rank computes the same plan, which is sorted by state and rank.
/// Returns DPC_INVALID, with the state's name, if no rank owns some element.
dpc_status_t planWriting(const dpc_program_t &program, std::vector<PlannedPiece> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

#ifndef DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H
#define DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

#include "dpc/program.h"
#include "dpc/status.h"
#include "runtime/src/pieces/Segments.h"

#include <vector>

namespace dpc {

/// The elements of a state that `rank` writes.
struct PlannedPiece {
  uint32_t state, rank;
  std::vector<Segments> segments;
};

/// Plans which rank writes which elements, so that each element of the state is
/// written once. Among the ranks that own an element, the one with the least to
/// write so far writes it. If any two ranks own either the same elements or
/// disjoint ones, each rank writes all of its elements of a state or none.
/// Every rank computes the same plan. The plan is sorted by state and rank.
/// DPC_INVALID, with the state's name, if no rank owns one of its elements.
dpc_status_t planWriting(const dpc_program_t &program, std::vector<PlannedPiece> *out);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PIECES_WRITEPLAN_H

#ifndef DPC_RUNTIME_SRC_PROGRAM_SPACES_H
#define DPC_RUNTIME_SRC_PROGRAM_SPACES_H

#include "dpc/types.h"

namespace dpc {

/// Sizes in bytes of the spaces of a rank. `holds` checks that a buffer lies
/// inside its space.
struct Spaces {
  uint64_t bytes[DPC_SPACE_COUNT];

  bool holds(uint32_t space, uint64_t offset, uint64_t size) const {
    return space < DPC_SPACE_COUNT && offset <= bytes[space] && size <= bytes[space] - offset;
  }
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_PROGRAM_SPACES_H

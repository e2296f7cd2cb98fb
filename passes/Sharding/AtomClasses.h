#ifndef DPC_PASSES_SHARDING_ATOMCLASSES_H
#define DPC_PASSES_SHARDING_ATOMCLASSES_H

#include "passes/Sharding/Structure.h"

namespace dpc {

/// Classes of atoms that play the same role; each class lists its atoms in order. For example, the
/// inner dimensions of all layers of a transformer form one class, and their heads another one. Two
/// atoms are in one class if the ops that have them are alike: the ops have the same forms, the
/// atoms are in the same loops, and the other atoms of the ops are alike in the same way, to a
/// fixed depth (colour refinement of Weisfeiler and Leman). Float types, and conversions between
/// them, do not count: under mixed precision they differ in the first and the last layer. The
/// classes decide only which cuts are tried together.
std::vector<llvm::SmallVector<unsigned>> findAtomClasses(const ProgramLoops &program);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_ATOMCLASSES_H

#ifndef DPC_PASSES_SHARDING_ATOMCLASSES_H
#define DPC_PASSES_SHARDING_ATOMCLASSES_H

#include "passes/Sharding/Structure.h"

namespace dpc {

/// Atoms that play the same part, each class in order: the inner dimensions of
/// all layers of a transformer are one, their heads another. Two atoms are of
/// one class where the ops that have them are alike: of the same forms, with the
/// atom in the same loops and with others that are alike in the same way, to a
/// fixed depth (colour refinement of Weisfeiler and Leman). Types of floats, and
/// conversions between them, do not count: under mixed precision the first and
/// the last layer have others. Nothing depends on it but which cuts are tried
/// together.
std::vector<llvm::SmallVector<unsigned>> findAtomClasses(const ProgramLoops &program);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_ATOMCLASSES_H

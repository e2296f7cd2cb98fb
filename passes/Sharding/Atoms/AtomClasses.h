#ifndef DPC_PASSES_SHARDING_ATOMS_ATOMCLASSES_H
#define DPC_PASSES_SHARDING_ATOMS_ATOMCLASSES_H

#include "passes/Sharding/Atoms/Structure.h"

namespace dpc {

/// Returns classes of atoms that play the same role. Each layer of a program has some atoms of its
/// own, so the number of atoms grows with the number of layers, but the number of classes does not.
/// For example, the inner dimensions of all layers of a transformer form one class, and their heads
/// another one. Each class lists its atoms in ascending order.
///
/// Two atoms are in one class if the ops that have them are alike. This means three things. The ops
/// have the same forms (OpLoops::form). The atoms are in the same loops of these ops. The other
/// atoms of the ops are alike in the same sense, to a fixed depth (colour refinement of Weisfeiler
/// and Leman). Element types, and conversions between float types, do not count, because under
/// mixed precision they differ in the first and the last layer. The classes decide only which cuts
/// the layout search tries together.
std::vector<llvm::SmallVector<unsigned>> findAtomClasses(const ProgramLoops &program);

} // namespace dpc

#endif // DPC_PASSES_SHARDING_ATOMS_ATOMCLASSES_H

#ifndef DPC_TEST_UNIT_PASSES_SHARDING_SHRINK_H
#define DPC_TEST_UNIT_PASSES_SHARDING_SHRINK_H

#include "test/unit/passes/Sharding/PartitionCheck.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace dpc::test {

/// The smallest case that was found with which `fails` still holds, starting from one
/// with which it does: without a function, a result, a request, the layout of an
/// argument, an axis in a list or of any size, the last op; with a parameter in the
/// place of what an op computes, or one of its operands. Stops after half a minute.
PartitionCase shrink(const PartitionCase &from,
                     llvm::function_ref<bool(const PartitionCase &)> fails);

/// Writes the program of `trial`, under the command that places it and runs `passes`, and
/// what is `wrong`, to a file for `seed`, and returns its path.
std::string writeCase(const PartitionCase &trial, uint32_t seed, llvm::StringRef wrong,
                      llvm::StringRef passes = "--dpc-partition");

} // namespace dpc::test

#endif // DPC_TEST_UNIT_PASSES_SHARDING_SHRINK_H

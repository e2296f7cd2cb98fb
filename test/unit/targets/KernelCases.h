#ifndef DPC_TEST_UNIT_TARGETS_KERNELCASES_H
#define DPC_TEST_UNIT_TARGETS_KERNELCASES_H

#include "test/unit/dialects/NN/IR/OpCases.h"

namespace dpc::test {

/// A kernel: the body `text` on arguments %a, %b, ...; its results are those of
/// the last op, or what a final `nn.yield` names.
const std::vector<OpCase> &kernelCases();

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_KERNELCASES_H

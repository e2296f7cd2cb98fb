#include "test/unit/passes/Lowering/KernelCases.h"

// clang-format off
static const std::vector<dpc::test::OpCase> cases = {
    {"nn.add %a, %a : tensor<33x7xf64>", {{"33x7xf64"}}},
};
// clang-format on

const std::vector<dpc::test::OpCase> &dpc::test::kernelCases() { return cases; }

#ifndef DPC_TEST_UNIT_DIALECTS_NN_IR_OPCASES_H
#define DPC_TEST_UNIT_DIALECTS_NN_IR_OPCASES_H

#include "test/unit/dialects/NN/IR/BlockInterpreter.h"

#include <ostream>

namespace dpc::test {

/// One use of an op, to be checked against its definition: the function body
/// `text` on arguments %a, %b, ... . The op under test is the last one.
struct OpCase {
  const char *text;
  std::vector<Arg> args;
  /// Float operands that get no gradient by definition (the bounds of a clamp).
  std::vector<unsigned> withoutGradient = {};
};

/// How GoogleTest names a case in its messages.
inline void PrintTo(const OpCase &opCase, std::ostream *stream) { *stream << opCase.text; }

/// Every case; each differentiable op has at least one.
const std::vector<OpCase> &opCases();

} // namespace dpc::test

#endif // DPC_TEST_UNIT_DIALECTS_NN_IR_OPCASES_H

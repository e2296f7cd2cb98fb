#ifndef DPC_TEST_UNIT_TARGETS_RANDOMROWS_H
#define DPC_TEST_UNIT_TARGETS_RANDOMROWS_H

#include "test/unit/dialects/NN/IR/OpCases.h"

#include <string>

namespace dpc::test {

/// A random kernel of norms and softmaxes over some of 4 to 6 small dimensions, one
/// after the other: rows in rows, whose loops are shared where that is legal.
class RandomRows {
public:
  explicit RandomRows(unsigned seed);

  const std::string &getText() const { return text; }
  /// Lives as long as this does.
  const OpCase &get() const { return opCase; }

private:
  std::string text, type;
  OpCase opCase;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_RANDOMROWS_H

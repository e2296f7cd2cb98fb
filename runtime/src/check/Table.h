#ifndef DPC_RUNTIME_SRC_CHECK_TABLE_H
#define DPC_RUNTIME_SRC_CHECK_TABLE_H

#include "runtime/src/check/Causes.h"
#include "runtime/src/check/Pairs.h"

#include <string>
#include <vector>

namespace dpc {

/// Columns of text. The last column is aligned to the left, and so are those of `left`.
class TextTable {
public:
  explicit TextTable(std::vector<std::string> heads, std::vector<size_t> left = {})
      : left(std::move(left)), rows{std::move(heads)} {}
  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }
  /// One line for each row, without blanks at its end.
  std::string text() const;

private:
  std::vector<size_t> left;
  std::vector<std::vector<std::string>> rows;
};

/// What --check prints: a line for each rank, the speeds of the pairs, and the causes. `pairs` is
/// that of measurePairs, or empty if no pair was measured. Of more than 12 ranks, the pairs of two
/// hosts have one line together.
std::string checkTable(const Gathered &all, const std::vector<std::string> &causes,
                       const std::vector<PairSpeed> &pairs);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_CHECK_TABLE_H

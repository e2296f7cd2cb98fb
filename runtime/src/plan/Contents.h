#ifndef DPC_RUNTIME_SRC_PLAN_CONTENTS_H
#define DPC_RUNTIME_SRC_PLAN_CONTENTS_H

#include "runtime/src/plan/PlanNames.h"

#include <map>
#include <optional>
#include <vector>

namespace dpc::plan {

/// Whose bytes a rank's memory holds while its table is played: a write makes
/// them the buffer's that it names. Knows nothing of how offsets were chosen.
class Contents {
public:
  void write(const ByteRange &range, uint32_t buffer) { fill(range, buffer, /*isZero=*/false); }
  /// A write of zeros.
  void zero(const ByteRange &range, uint32_t buffer) { fill(range, buffer, /*isZero=*/true); }

  /// The first byte of a range that is not the buffer's, and whose it is
  /// (nobody's: none).
  struct Stranger {
    uint64_t byte;
    std::optional<uint32_t> buffer;
  };
  /// Reads `range`; the stranger, if not all of it is the buffer's.
  std::optional<Stranger> read(const ByteRange &range, uint32_t buffer);

  /// Reads what `range` has of the buffer: these parts, in order, with bytes of
  /// others or nobody between them.
  std::vector<ByteRange> readParts(const ByteRange &range, uint32_t buffer);

  /// The first byte of `range` that is the buffer's, that holds anything but a
  /// zero, and that nothing has read since it was written: zeros would lose it.
  std::optional<uint64_t> findUnread(const ByteRange &range, uint32_t buffer) const;

private:
  struct Run {
    uint64_t end;
    uint32_t buffer;
    bool isRead;
    bool isZero; ///< written by zero(), and by nothing since
  };
  using Runs = std::map<uint64_t, Run>;

  void fill(const ByteRange &range, uint32_t buffer, bool isZero);

  /// The first run that ends behind `begin`.
  static Runs::iterator firstOf(Runs &runs, uint64_t begin);
  static Runs::const_iterator firstOf(const Runs &runs, uint64_t begin);
  /// Marks the bytes that `at` has in [begin, end) as read; the run that begins
  /// behind them, or the next.
  static Runs::iterator markRead(Runs &runs, Runs::iterator at, uint64_t begin, uint64_t end);

  /// By first byte; never overlapping.
  Runs spaces[DPC_SPACE_COUNT];
};

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_CONTENTS_H

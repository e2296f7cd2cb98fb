#ifndef DPC_RUNTIME_SRC_PLAN_CONTENTS_H
#define DPC_RUNTIME_SRC_PLAN_CONTENTS_H

#include "runtime/src/plan/PlanNames.h"

#include <map>
#include <optional>
#include <vector>

namespace dpc::plan {

/// The owner of each byte of a rank's memory while its table is played. A write
/// makes the bytes belong to the buffer that it names. The class does not
/// depend on how the planner chose offsets.
class Contents {
public:
  void write(const ByteRange &range, uint32_t buffer) { fill(range, buffer, /*isZero=*/false); }
  /// A write that stores zeros.
  void zero(const ByteRange &range, uint32_t buffer) { fill(range, buffer, /*isZero=*/true); }

  /// The first byte of a range that does not belong to the expected buffer, and
  /// the buffer that it belongs to (none if nothing has been written there).
  struct Stranger {
    uint64_t byte;
    std::optional<uint32_t> buffer;
  };
  /// Reads `range`. Returns a stranger unless all bytes belong to `buffer`.
  std::optional<Stranger> read(const ByteRange &range, uint32_t buffer);

  /// Reads the bytes of `range` that belong to `buffer` and returns them as
  /// ranges in ascending order. Bytes between them belong to other buffers or
  /// to none.
  std::vector<ByteRange> readParts(const ByteRange &range, uint32_t buffer);

  /// The first byte of `range` that belongs to `buffer`, has contents other
  /// than zeros, and was not read since it was written. Writing zeros to it
  /// would lose a value.
  std::optional<uint64_t> findUnread(const ByteRange &range, uint32_t buffer) const;

private:
  struct Run {
    uint64_t end;
    uint32_t buffer;
    bool isRead;
    bool isZero; ///< written by zero() and not overwritten since
  };
  using Runs = std::map<uint64_t, Run>;

  void fill(const ByteRange &range, uint32_t buffer, bool isZero);

  /// The first run that ends after `begin`.
  static Runs::iterator firstOf(Runs &runs, uint64_t begin);
  static Runs::const_iterator firstOf(const Runs &runs, uint64_t begin);
  /// Marks the part of run `at` that is in [begin, end) as read. Returns the
  /// run after that part.
  static Runs::iterator markRead(Runs &runs, Runs::iterator at, uint64_t begin, uint64_t end);

  /// Keyed by first byte; runs do not overlap.
  Runs spaces[DPC_SPACE_COUNT];
};

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_CONTENTS_H

#ifndef DPC_RUNTIME_SRC_PLAN_CONTENTS_H
#define DPC_RUNTIME_SRC_PLAN_CONTENTS_H

#include "runtime/src/plan/PlanNames.h"

#include <map>
#include <optional>
#include <vector>

namespace dpc::plan {

/// Says, for each byte of a rank's memory, which logical buffer it belongs to while
/// the proof steps through an action table. A write makes its bytes belong to the
/// buffer that it names. So the proof does not depend on the way in which the memory
/// planner chose offsets.
class Contents {
public:
  void write(const ByteRange &range, uint32_t buffer) { fill(range, buffer, Write::Value); }
  /// Like write, for a write that stores zeros.
  void zero(const ByteRange &range, uint32_t buffer) { fill(range, buffer, Write::Zero); }
  /// Like write, for a write that adds a term to a sum: its kernel has read the old
  /// contents, which belonged to `buffer`.
  void add(const ByteRange &range, uint32_t buffer);

  /// A byte that does not belong to the expected buffer, and the buffer to which it
  /// belongs (none if nothing has written the byte).
  struct Stranger {
    uint64_t byte;
    std::optional<uint32_t> buffer;
  };
  /// Marks the bytes of `range` as read, and also as taken, unless the read is a part of
  /// an add(). Returns the first byte that does not belong to `buffer`, if any.
  std::optional<Stranger> read(const ByteRange &range, uint32_t buffer, bool isForAdd = false);

  /// Marks the bytes of `range` that belong to `buffer` as read and taken, and returns them as
  /// ranges in ascending order. The bytes between these ranges belong to other
  /// buffers or to none.
  std::vector<ByteRange> readParts(const ByteRange &range, uint32_t buffer);

  /// Finds a value that would be lost if zeros were written to `range`. Returns the
  /// first byte that belongs to `buffer` and was not read after its latest write, if
  /// this write was not a zero().
  std::optional<uint64_t> findUnread(const ByteRange &range, uint32_t buffer) const;

  /// Finds a term that would be lost if `range` were written: a byte whose sum was taken
  /// before the latest add(), and not after it. A sum that nothing takes is not meant: it may
  /// be padding. Also returns the buffer of the byte.
  std::optional<Stranger> findUnreadTerm(const ByteRange &range) const;

private:
  enum class Write : uint8_t { Value, Zero, Term };
  struct Run {
    uint64_t end;
    uint32_t buffer;
    bool isRead;  ///< since the latest write
    Write latest; ///< the latest write
    bool isTaken; ///< read since the latest write() or zero(), and not only for an add()
  };
  using Runs = std::map<uint64_t, Run>;

  void fill(const ByteRange &range, uint32_t buffer, Write kind);

  /// The first run that ends after `begin`.
  static Runs::iterator firstOf(Runs &runs, uint64_t begin);
  static Runs::const_iterator firstOf(const Runs &runs, uint64_t begin);
  /// Makes the part of the run `at` that lies in [begin, end) a run of its own, and returns
  /// it.
  static Runs::iterator cut(Runs &runs, Runs::iterator at, uint64_t begin, uint64_t end);
  /// Marks the part of the run `at` that lies in [begin, end) as read. For this it
  /// may split the run. Returns the run after this part.
  static Runs::iterator markRead(Runs &runs, Runs::iterator at, uint64_t begin, uint64_t end,
                                 bool isTaken);

  /// The runs of each space, keyed by their first byte. Runs do not overlap.
  Runs spaces[DPC_SPACE_COUNT];
};

} // namespace dpc::plan

#endif // DPC_RUNTIME_SRC_PLAN_CONTENTS_H

#ifndef DPC_PASSES_VERIFY_BUFFERCONTENTS_H
#define DPC_PASSES_VERIFY_BUFFERCONTENTS_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// A run of bytes of one address space.
struct ByteRange {
  int64_t space = 0;
  int64_t begin = 0, end = 0;

  bool overlaps(const ByteRange &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};

/// Which buffer the bytes of each space belong to, while a program is played: a
/// write makes bytes the writing buffer's, a read demands that they are. Finds
/// buffers that were given the same bytes while both were needed, reads of what
/// nobody wrote, and touches of bytes that a communication has in flight. Knows
/// nothing of how offsets were chosen.
class BufferContents {
public:
  /// Buffers are numbers the caller gives.
  void write(const ByteRange &range, int64_t buffer);
  /// The first byte of `range` that is not `buffer`'s, and whose it is (-1 for
  /// nobody's).
  struct Stranger {
    int64_t byte, buffer;
  };
  std::optional<Stranger> findStranger(const ByteRange &range, int64_t buffer) const;

  /// The runs of `range` that are `buffer`'s, in order.
  std::vector<ByteRange> piecesOf(const ByteRange &range, int64_t buffer) const;

  /// Communication `event` reads `input` and writes `output` until it ends.
  void begin(int64_t event, const ByteRange &input, const ByteRange &output);
  void end(int64_t event);
  /// The communication in flight that forbids reading (writing) `range`.
  std::optional<int64_t> whoForbidsRead(const ByteRange &range) const;
  std::optional<int64_t> whoForbidsWrite(const ByteRange &range) const;

private:
  struct Owned {
    int64_t end, buffer;
  };
  struct Flight {
    int64_t event;
    ByteRange input, output;
  };
  /// By space, then by first byte; never overlapping.
  std::map<int64_t, std::map<int64_t, Owned>> owned;
  std::vector<Flight> flights;
};

} // namespace dpc

#endif // DPC_PASSES_VERIFY_BUFFERCONTENTS_H

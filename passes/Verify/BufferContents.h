#ifndef DPC_PASSES_VERIFY_BUFFERCONTENTS_H
#define DPC_PASSES_VERIFY_BUFFERCONTENTS_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace dpc {

/// The bytes [begin, end) of one address space.
struct ByteRange {
  int64_t space = 0;
  int64_t begin = 0, end = 0;

  bool overlaps(const ByteRange &other) const {
    return space == other.space && begin < other.end && other.begin < end;
  }
};

/// Tracks which buffer each byte of each space belongs to while a program is simulated. A write
/// makes the bytes belong to the written buffer. A read requires that they belong to the read
/// buffer. In this way the class finds buffers that share bytes while both are live, reads of bytes
/// that no op wrote, and accesses to bytes of a collective in flight. The class does not use the
/// memory plan, so it also finds errors of that plan.
class BufferContents {
public:
  /// Makes the bytes of `range` belong to `buffer`. The caller chooses the numbers of buffers.
  void write(const ByteRange &range, int64_t buffer);
  /// The first byte of a range that does not belong to the expected buffer. `buffer` is the buffer
  /// to which this byte belongs (-1: no buffer).
  struct Stranger {
    int64_t byte, buffer;
  };
  std::optional<Stranger> findStranger(const ByteRange &range, int64_t buffer) const;

  /// Returns the parts of `range` that belong to `buffer`, in order.
  std::vector<ByteRange> piecesOf(const ByteRange &range, int64_t buffer) const;

  /// Records that the collective `event` reads `input` and writes `output` until end() is called.
  void begin(int64_t event, const ByteRange &input, const ByteRange &output);
  void end(int64_t event);
  /// Returns a collective in flight that forbids reads (or writes) of `range` now, if there is one.
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
  /// The runs of consecutive bytes that belong to one buffer, by space, then by first byte. Runs
  /// never overlap.
  std::map<int64_t, std::map<int64_t, Owned>> owned;
  std::vector<Flight> flights;
};

} // namespace dpc

#endif // DPC_PASSES_VERIFY_BUFFERCONTENTS_H

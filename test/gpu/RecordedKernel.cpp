// Kernels and their runs as a file: numbers as 8 bytes of the host, texts and
// lists after their lengths.
#include "test/gpu/RecordedKernel.h"

#include <algorithm>
#include <istream>
#include <ostream>

namespace dpc::test {

namespace {

/// Writes to a stream.
struct Writer {
  std::ostream &stream;
  template <typename Number> void number(const Number &value) {
    const uint64_t wide = value;
    stream.write(reinterpret_cast<const char *>(&wide), sizeof wide);
  }
  void text(const std::string &value) {
    number(value.size());
    stream.write(value.data(), static_cast<std::streamsize>(value.size()));
  }
  template <typename Element, typename Each>
  void list(const std::vector<Element> &elements, Each each) {
    number(elements.size());
    for (const Element &element : elements)
      each(element);
  }
};

/// Reads from a stream; what is not there is 0, and the stream has failed then.
struct Reader {
  std::istream &stream;
  template <typename Number> void number(Number &value) {
    uint64_t wide = 0;
    stream.read(reinterpret_cast<char *>(&wide), sizeof wide);
    value = static_cast<Number>(stream ? wide : 0);
  }
  void text(std::string &value) {
    uint64_t left = 0;
    number(left);
    value.clear();
    // In parts, so that a length that is wrong takes no memory.
    for (std::vector<char> part(1 << 16); left && stream;) {
      stream.read(part.data(), static_cast<std::streamsize>(std::min<uint64_t>(left, part.size())));
      value.append(part.data(), static_cast<size_t>(stream.gcount()));
      left -= static_cast<uint64_t>(stream.gcount());
    }
  }
  template <typename Element, typename Each> void list(std::vector<Element> &elements, Each each) {
    uint64_t count = 0;
    number(count);
    elements.clear();
    for (uint64_t i = 0; i < count && stream; ++i)
      each(elements.emplace_back());
  }
};

/// One description of the format, for both ways.
template <typename Way, typename Kernel> void pass(Way way, Kernel &kernel) {
  way.text(kernel.name);
  way.text(kernel.ptx);
  way.list(kernel.launches, [&](auto &launch) {
    way.text(launch.symbol);
    way.number(launch.blocks);
    way.number(launch.threads);
    way.number(launch.sharedBytes);
    way.list(launch.buffers, [&](auto &buffer) { way.number(buffer); });
  });
  way.list(kernel.runs, [&](auto &run) {
    way.list(run.places, [&](auto &place) { way.number(place); });
    way.list(run.buffers, [&](auto &buffer) {
      way.number(buffer.dtype);
      way.number(buffer.isScratch);
      way.number(buffer.bytes);
      way.text(buffer.before);
      way.text(buffer.after);
    });
  });
}

} // namespace

void writeKernel(std::ostream &out, const RecordedKernel &kernel) { pass(Writer{out}, kernel); }

bool readKernel(std::istream &in, RecordedKernel &kernel) {
  if (in.peek() == std::istream::traits_type::eof())
    return false;
  pass(Reader{in}, kernel);
  return static_cast<bool>(in);
}

} // namespace dpc::test

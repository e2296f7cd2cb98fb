#ifndef DPC_TOOLS_COMMON_PREFIXSTREAM_H
#define DPC_TOOLS_COMMON_PREFIXSTREAM_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace dpc {

/// A stream to standard error that puts a prefix before each line. Parts of the
/// compiler that print notes do not know in which tool they run, so the tool
/// gives them this stream.
class PrefixStream : public llvm::raw_ostream {
public:
  explicit PrefixStream(llvm::StringRef prefix)
      : raw_ostream(/*unbuffered=*/true), prefix(prefix.str()) {}

private:
  void write_impl(const char *data, size_t size) override {
    for (llvm::StringRef rest(data, size); !rest.empty();) {
      const llvm::StringRef line = rest.take_until([](char c) { return c == '\n'; });
      if (isLineStart)
        llvm::errs() << prefix;
      isLineStart = line.size() < rest.size();
      llvm::errs() << line << (isLineStart ? "\n" : "");
      rest = rest.drop_front(line.size() + (isLineStart ? 1 : 0));
    }
    position += size;
  }
  uint64_t current_pos() const override { return position; }

  std::string prefix;
  bool isLineStart = true;
  uint64_t position = 0;
};

} // namespace dpc

#endif // DPC_TOOLS_COMMON_PREFIXSTREAM_H

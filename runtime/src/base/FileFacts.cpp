// Reads samples of files, with which hosts compare what they have.

#include "runtime/src/base/FileFacts.h"

#include "runtime/src/base/Fd.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>
#include <zlib.h>

namespace dpc {

namespace {

/// Smaller blocks would make the reads slow, and larger ones would make them few.
constexpr uint64_t kSmallestBlock = 4u << 10, kLargestBlock = 64u << 10, kFewestBlocks = 4;

/// Adds the bytes [begin, begin + count) of a file to a checksum. Returns errno, or 0.
int addBlock(int fd, uint64_t begin, uint64_t count, std::vector<unsigned char> &buffer,
             uint64_t *checksum) {
  while (count) {
    const ssize_t got =
        ::pread(fd, buffer.data(), std::min<uint64_t>(count, buffer.size()), off_t(begin));
    if (got < 0 && errno == EINTR)
      continue;
    if (got < 0)
      return errno;
    if (got == 0)
      return 0; // another process has shortened the file
    *checksum = ::crc32_z(*checksum, buffer.data(), size_t(got));
    begin += uint64_t(got), count -= uint64_t(got);
  }
  return 0;
}

} // namespace

FileFacts factsOfFile(const std::string &path, uint64_t sampleBytes) {
  FileFacts facts;
  struct stat info;
  // A pipe without a writer must not stop this process.
  const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!file.valid() || ::fstat(file.get(), &info) != 0) {
    facts.error = errno;
    return facts;
  }
  facts.isRegular = S_ISREG(info.st_mode);
  if (!facts.isRegular)
    return facts;
  facts.bytes = static_cast<uint64_t>(info.st_size);
  std::vector<unsigned char> buffer(kLargestBlock);
  if (facts.bytes <= sampleBytes) {
    facts.error = addBlock(file.get(), 0, facts.bytes, buffer, &facts.checksum);
    return facts;
  }
  const uint64_t block = std::clamp(sampleBytes / kFewestBlocks, kSmallestBlock, kLargestBlock),
                 steps = std::max(kFewestBlocks, sampleBytes / block) - 1,
                 last = facts.bytes - std::min(facts.bytes, block);
  for (uint64_t i = 0; i <= steps && facts.error == 0; ++i) {
    // The product last * i could overflow.
    const uint64_t begin = last / steps * i + last % steps * i / steps;
    facts.error = addBlock(file.get(), begin, block, buffer, &facts.checksum);
  }
  return facts;
}

} // namespace dpc

// Creates and maps the page that ranks inherit from dpc-run (DPC_RUN_PAGE_FD).
// The page keeps the first failure that a rank reports about itself, and the first
// failure that a rank reports about another rank. The memory of the ranks follows it.

#include "runtime/src/base/RunPage.h"

#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr uint64_t kMagic = 0x0231656761706472ull;
/// Size of the page in the memory. The memory of the ranks follows.
constexpr uint64_t kPageBytes = (sizeof(RunPage) + 4095) / 4096 * 4096;

RunPage *attachedPage = nullptr;

RunPage *map(int fd, uint64_t bytes) {
  void *mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<RunPage *>(mapped);
}

uint64_t sizeWith(uint64_t ranks, uint64_t bytesPerRank) {
  return kPageBytes + ranks * bytesPerRank;
}

} // namespace

void RunPage::tell(dpc_status_t status, const char *text) {
  Cause &cause = status == DPC_PEER ? peer : own;
  uint32_t expected = 0;
  if (!cause.state.compare_exchange_strong(expected, 1))
    return;
  cause.status = status;
  std::snprintf(cause.text, sizeof cause.text, "%s", text);
  cause.state.store(2, std::memory_order_release);
}

char *RunPage::memoryOf(uint32_t rank, uint64_t bytes) const {
  if (rank < firstRank || rank - firstRank >= ranks || bytes > bytesPerRank)
    return nullptr;
  return reinterpret_cast<char *>(const_cast<RunPage *>(this)) +
         sizeWith(rank - firstRank, bytesPerRank);
}

RunPage *createRunPage(uint32_t firstRank, uint32_t ranks, uint64_t bytesPerRank, Fd *outMemory) {
  *outMemory = Fd(::memfd_create("dpc-run", MFD_CLOEXEC));
  RunPage *page = nullptr;
  const auto resize = [&] {
    return outMemory->valid() &&
           ::ftruncate(outMemory->get(), static_cast<off_t>(sizeWith(ranks, bytesPerRank))) == 0;
  };
  bool isSized = resize();
  if (!isSized) { // a limit on the size of files counts here too; the run needs only the page
    ranks = 0;
    isSized = resize();
  }
  if (isSized)
    page = map(outMemory->get(), sizeWith(ranks, bytesPerRank));
  if (!page) {
    fail(DPC_IO, "cannot make the run's shared page: %s", std::strerror(errno));
    return nullptr;
  }
  page->magic = kMagic;
  page->launcher = ::getpid();
  page->firstRank = firstRank;
  page->ranks = ranks;
  page->bytesPerRank = bytesPerRank;
  return page;
}

void releaseRunPage(RunPage *page) {
  if (page)
    ::munmap(page, sizeWith(page->ranks, page->bytesPerRank));
}

void attachRunPage() {
  const char *value = std::getenv("DPC_RUN_PAGE_FD");
  if (!value)
    return;
  char *end = nullptr;
  const long number = std::strtol(value, &end, 10);
  const bool isNumber = end != value && *end == 0 && number >= 0 && number <= 1 << 20;
  ::unsetenv("DPC_RUN_PAGE_FD");
  struct stat info;
  if (attachedPage || !isNumber)
    return;
  const Fd memory(static_cast<int>(number));
  // A launcher of another version may have a page of another size or kind. Then each
  // rank reports its errors itself.
  if (::fstat(memory.get(), &info) != 0 || uint64_t(info.st_size) < kPageBytes)
    return;
  RunPage *page = map(memory.get(), uint64_t(info.st_size));
  if (!page || page->magic != kMagic ||
      uint64_t(info.st_size) != sizeWith(page->ranks, page->bytesPerRank))
    return;
  attachedPage = page;
  page->attached.fetch_add(1);
}

RunPage *runPage() { return attachedPage; }

} // namespace dpc

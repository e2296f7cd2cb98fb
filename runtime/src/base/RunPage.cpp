// Creates and maps the page that ranks inherit from dpc-run (DPC_RUN_PAGE_FD).
// The page keeps the first failure that a rank reports about itself, and the first
// failure that a rank reports about another rank.

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

constexpr uint64_t kMagic = 0x0131656761706472ull;

RunPage *attachedPage = nullptr;

RunPage *map(int fd) {
  void *mapped = ::mmap(nullptr, sizeof(RunPage), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<RunPage *>(mapped);
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

RunPage *createRunPage(Fd *outMemory) {
  *outMemory = Fd(::memfd_create("dpc-run", MFD_CLOEXEC));
  RunPage *page = nullptr;
  if (outMemory->valid() && ::ftruncate(outMemory->get(), sizeof *page) == 0)
    page = map(outMemory->get());
  if (!page) {
    fail(DPC_IO, "cannot make the run's shared page: %s", std::strerror(errno));
    return nullptr;
  }
  page->magic = kMagic;
  page->launcher = ::getpid();
  return page;
}

void releaseRunPage(RunPage *page) {
  if (page)
    ::munmap(page, sizeof *page);
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
  // A launcher of another version may have a page of another size. Then each rank
  // reports its errors itself.
  if (::fstat(memory.get(), &info) != 0 || info.st_size != sizeof(RunPage))
    return;
  RunPage *page = map(memory.get());
  if (!page || page->magic != kMagic)
    return;
  attachedPage = page;
  page->attached.fetch_add(1);
}

RunPage *runPage() { return attachedPage; }

} // namespace dpc

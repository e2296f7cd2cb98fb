// Keeps the work of each thread in a linked list on its stack, and describes the
// work without allocating memory.

#include "dialects/Interfaces/CurrentWork.h"

#include "dialects/Interfaces/NodeNames.h"

#include <algorithm>
#include <atomic>
#include <cstring>

using namespace mlir;
using namespace dpc;

namespace {

/// The work of one thread: the head of its list, and the pass that it runs.
struct Thread {
  const CurrentWork *innermost = nullptr;
  StringRef pass;
};

thread_local Thread current;
std::atomic<const Thread *> mainThread = nullptr;

/// Appends text to a buffer of limited length, which always ends in a zero byte.
struct Text {
  char *at, *end;

  void add(StringRef more) {
    const size_t count = std::min(more.size(), size_t(end - at));
    std::memcpy(at, more.data(), count);
    at += count;
    *at = 0;
  }
};

} // namespace

CurrentWork::CurrentWork(const char *kind, StringRef name, StringRef op)
    : kind(kind), name(name), op(op), outer(current.innermost) {
  current.innermost = this;
}

CurrentWork::CurrentWork(Location loc, StringRef op)
    : kind("node"), op(op), loc(loc), outer(current.innermost) {
  current.innermost = this;
}

CurrentWork::~CurrentWork() { current.innermost = outer; }

void CurrentWork::setPass(StringRef pass) { current.pass = pass; }

void CurrentWork::setMain() { mainThread = &current; }

void CurrentWork::describe(char *text, size_t size) {
  Text out = {text, text + size - 1};
  out.add("");
  const Thread *thread = &current;
  if (const Thread *first = mainThread; !thread->innermost && thread->pass.empty() && first)
    thread = first; // The main thread waits for this one.
  auto add = [&](const char *preposition, const CurrentWork &work) {
    StringRef node = work.loc ? firstNodeOf(*work.loc) : work.name;
    out.add(preposition);
    if (!node.empty()) {
      out.add(work.kind);
      out.add(" '");
      out.add(node);
      out.add("'");
    }
    if (work.op.empty())
      return;
    out.add(node.empty() ? "op " : " (");
    out.add(work.op);
    out.add(node.empty() ? "" : ")");
  };
  if (const CurrentWork *inner = thread->innermost) {
    const CurrentWork *outermost = inner;
    for (const CurrentWork *work = inner; work; work = work->outer)
      if (std::strcmp(work->kind, inner->kind) == 0)
        outermost = work;
    add(" at ", *inner);
    if (outermost != inner)
      add(" inside ", *outermost);
  }
  if (!thread->pass.empty()) {
    out.add(" in pass ");
    out.add(thread->pass);
  }
}

// The signals with which a user or a scheduler ends a run.

#include "runtime/src/launch/Interrupts.h"

#include "dpc/status.h"

#include <initializer_list>
#include <unistd.h>

namespace dpc {

sigset_t interruptSignals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGINT);
  sigaddset(&out, SIGTERM);
  struct sigaction before = {};
  if (::sigaction(SIGHUP, nullptr, &before) != 0 || before.sa_handler != SIG_IGN)
    sigaddset(&out, SIGHUP);
  return out;
}

static void endNow(int) {
  static const char text[] = "dpc-run: note: interrupted before the first step\n";
  const ssize_t written = ::write(STDERR_FILENO, text, sizeof text - 1);
  ::_exit(written < 0 ? int(DPC_IO) : int(DPC_INTERRUPTED));
}

EarlyInterrupts::EarlyInterrupts() : signals(interruptSignals()) {
  struct sigaction action = {};
  action.sa_handler = endNow;
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&signals, signal))
      ::sigaction(signal, &action, nullptr);
  ::sigprocmask(SIG_UNBLOCK, &signals, nullptr);
}

EarlyInterrupts::~EarlyInterrupts() {
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
  for (int signal : {SIGINT, SIGTERM, SIGHUP})
    if (sigismember(&signals, signal))
      std::signal(signal, SIG_DFL);
}

} // namespace dpc

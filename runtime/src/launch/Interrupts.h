#ifndef DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H
#define DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H

#include <csignal>

namespace dpc {

/// The signals that ask a process to stop: SIGINT, SIGTERM and SIGHUP. If this process
/// was started so that it ignores SIGHUP (by nohup), the set does not have SIGHUP. The
/// reason is that sigtimedwait would receive this signal although it is ignored.
inline sigset_t interruptSignals() {
  sigset_t out;
  sigemptyset(&out);
  sigaddset(&out, SIGINT);
  sigaddset(&out, SIGTERM);
  struct sigaction before = {};
  if (::sigaction(SIGHUP, nullptr, &before) != 0 || before.sa_handler != SIG_IGN)
    sigaddset(&out, SIGHUP);
  return out;
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H

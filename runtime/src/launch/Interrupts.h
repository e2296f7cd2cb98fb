#ifndef DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H
#define DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H

#include <csignal>

namespace dpc {

/// The signals that ask a process to stop: SIGINT, SIGTERM and SIGHUP. SIGHUP
/// is left out if this process was started to ignore it (nohup), because
/// sigtimedwait receives a blocked signal even if it is ignored.
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

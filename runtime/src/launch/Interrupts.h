#ifndef DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H
#define DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H

#include <csignal>

namespace dpc {

/// The signals by which somebody asks a process to stop: SIGINT, SIGTERM and,
/// unless this process was started to ignore it (nohup), SIGHUP. A blocked
/// signal is delivered to sigtimedwait even when it is ignored.
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

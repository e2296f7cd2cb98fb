#ifndef DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H
#define DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H

#include <csignal>

namespace dpc {

/// The signals that ask a process to stop: SIGINT, SIGTERM and SIGHUP. If this process
/// was started so that it ignores SIGHUP (by nohup), the set does not have SIGHUP. The
/// reason is that sigtimedwait would receive this signal although it is ignored.
sigset_t interruptSignals();

/// While it exists, an interrupt ends this process with exit code 130 and a note. For
/// waits before the ranks have started. Outside of it, these signals are blocked.
class EarlyInterrupts {
public:
  EarlyInterrupts();
  ~EarlyInterrupts();
  EarlyInterrupts(const EarlyInterrupts &) = delete;
  EarlyInterrupts &operator=(const EarlyInterrupts &) = delete;

private:
  const sigset_t signals;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_LAUNCH_INTERRUPTS_H

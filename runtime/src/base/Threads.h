#ifndef DPC_RUNTIME_SRC_BASE_THREADS_H
#define DPC_RUNTIME_SRC_BASE_THREADS_H

#include <csignal>

namespace dpc {

/// Returns the result of `function`, which starts threads, e.g. `return std::thread(..);`. They
/// block all signals, because signals are for the thread that trains.
template <typename Function> auto withoutSignals(Function function) {
  class Mask {
  public:
    Mask() {
      sigset_t all;
      sigfillset(&all);
      pthread_sigmask(SIG_SETMASK, &all, &before);
    }
    Mask(const Mask &) = delete;
    Mask &operator=(const Mask &) = delete;
    ~Mask() { pthread_sigmask(SIG_SETMASK, &before, nullptr); }

  private:
    sigset_t before;
  };
  const Mask mask;
  return function();
}

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_THREADS_H

#ifndef DPC_RUNTIME_SRC_BASE_FD_H
#define DPC_RUNTIME_SRC_BASE_FD_H

namespace dpc {

/// A file descriptor that closes itself.
class Fd {
public:
  explicit Fd(int fd = -1) : fd(fd) {}
  Fd(Fd &&other) noexcept : fd(other.release()) {}
  Fd &operator=(Fd &&other) noexcept;
  ~Fd();
  int get() const { return fd; }
  bool valid() const { return fd >= 0; }
  int release();

private:
  int fd;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_FD_H

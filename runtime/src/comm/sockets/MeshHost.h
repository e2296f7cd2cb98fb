#ifndef DPC_RUNTIME_SRC_COMM_SOCKETS_MESHHOST_H
#define DPC_RUNTIME_SRC_COMM_SOCKETS_MESHHOST_H

#include <cstdint>

namespace dpc::sockets {

/// The memory that a rank of a mesh shares with other ranks of its host. Data to such a rank is
/// not sent: the rank copies it out of this memory. The mesh calls these functions from any
/// thread while it is locked, so they must not call the mesh.
class MeshHost {
public:
  virtual ~MeshHost() = default;
  virtual bool shares(uint32_t rank) const = 0;
  /// The place of `bytes` bytes of this rank, for borrow() on other ranks of the host.
  virtual uint64_t lend(const char *from, uint64_t bytes) const = 0;
  /// The bytes that another rank lends; null if the place is not in the shared memory.
  virtual const char *borrow(uint64_t place, uint64_t bytes) const = 0;
  /// An operation may be complete, or the run may have failed, or a rank has left.
  virtual void changed() = 0;
  virtual void failed() = 0;
};

} // namespace dpc::sockets

#endif // DPC_RUNTIME_SRC_COMM_SOCKETS_MESHHOST_H

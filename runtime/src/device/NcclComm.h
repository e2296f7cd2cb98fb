#ifndef DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H
#define DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H

#include "runtime/src/device/DeviceComm.h"

#include <set>

namespace dpc {

/// Communication between devices by NCCL, with one NCCL communicator per group. All
/// communicators use one stream, because their operations may not run concurrently.
///
/// NCCL connects ranks when they run the first operation of a kind, or send the first message to a
/// peer. Some of its network plugins fail if this happens while a graph is captured. So `open` runs
/// such operations itself.
///
/// NCCL does not notice if ranks start different operations. So in the first run of
/// an entry, all ranks announce each operation to each other before data moves. In
/// later runs they announce only that they begin the entry. NCCL also does not
/// watch the peers, so this class does it while a rank waits for its device.
class NcclComm : public DeviceComm {
public:
  explicit NcclComm(DeviceCommParts parts) : DeviceComm(std::move(parts)) {}
  ~NcclComm() override;

  /// Returns DPC_INVALID if NCCL is not installed or if two ranks use one device.
  dpc_status_t open(uint32_t eventCount) override;
  dpc_status_t begin(uint32_t number, bool isKept) override;

private:
  dpc_status_t move(const dpc_comm_op_t &op) override;
  dpc_status_t settle() override;
  dpc_status_t check() override;
  void giveUp() override;

  dpc_status_t checkDevices();
  dpc_status_t connect();
  /// Waits until NCCL has finished a call that is in progress on a communicator, e.g.
  /// its creation.
  dpc_status_t awaitReady(cuda::NcclComm comm, const char *what);
  dpc_status_t checkCall(cuda::NcclResult result, cuda::NcclComm comm, const char *what);
  dpc_status_t runFirst();
  dpc_status_t announce(dpc_comm_op_t op);
  dpc_status_t enqueue(const dpc_comm_op_t &op);
  dpc_status_t enqueueParts(const dpc_comm_op_t &op, cuda::NcclComm comm);
  dpc_status_t copy(const void *from, void *to, uint64_t bytes);

  cuda::Nccl nccl;
  std::vector<cuda::NcclComm> comms; // by family; null: this rank is alone in its group, or in no
                                     // group
  std::vector<cuda::NcclComm> owned; // each communicator once, although families may share it
  cuda::DevicePointer flag = 0;      // one element on the device; a barrier is its all-reduce
  void *registration = nullptr;      // handle of the SHARED space, registered with owned[0]
  bool announces = false;            // true: ranks announce each operation before data moves
  std::set<uint32_t> known;          // entries whose operations have been announced
  dpc_request_t begun = 0;           // the announcement of the entry; settle() waits for it
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H

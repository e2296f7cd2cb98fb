#ifndef DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H
#define DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H

#include "runtime/src/device/DeviceComm.h"

#include <set>

namespace dpc {

/// Communication between devices by NCCL, with a communicator per group. All
/// communicators use one stream, because operations of NCCL's communicators may
/// not run concurrently.
///
/// NCCL does not notice if ranks run different operations. So in the first run
/// of a numbered piece of work, all ranks announce each operation to each other
/// before data moves; in later runs they announce only that they begin it.
/// While a rank waits for its device it watches its peers, which NCCL does not
/// do.
class NcclComm : public DeviceComm {
public:
  explicit NcclComm(DeviceCommParts parts) : DeviceComm(std::move(parts)) {}
  ~NcclComm() override;

  /// DPC_INVALID if NCCL is not installed, or two ranks use the same device.
  dpc_status_t open(uint32_t eventCount) override;
  dpc_status_t begin(uint32_t number, bool isKept) override;

private:
  dpc_status_t move(const std::vector<dpc_comm_op_t> &ops) override;
  dpc_status_t settle() override;
  dpc_status_t check() override;
  void giveUp() override;

  dpc_status_t checkDevices();
  dpc_status_t connect();
  /// Waits until NCCL has created a communicator.
  dpc_status_t awaitReady(cuda::NcclComm comm, const char *what);
  dpc_status_t checkCall(cuda::NcclResult result, cuda::NcclComm comm, const char *what);
  dpc_status_t announce(const std::vector<dpc_comm_op_t> &ops);
  dpc_status_t enqueue(const dpc_comm_op_t &op);
  dpc_status_t enqueueParts(const dpc_comm_op_t &op, cuda::NcclComm comm);
  dpc_status_t copy(const void *from, void *to, uint64_t bytes);

  cuda::Nccl nccl;
  std::vector<cuda::NcclComm> comms; // by family; null: a group of one rank, or no group
  std::vector<cuda::NcclComm> owned; // every communicator once
  cuda::DevicePointer flag = 0;      // the element that barriers reduce
  void *registration = nullptr;      // of the device's memory, with owned[0]
  bool announces = false;            // true: the next operations are announced
  std::set<uint32_t> known;          // numbers whose operations have been announced
  dpc_request_t begun = 0;           // the request that settle() waits for
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H

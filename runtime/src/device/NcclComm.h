#ifndef DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H
#define DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H

#include "runtime/src/device/DeviceComm.h"

#include <set>

namespace dpc {

/// Communication between devices by NCCL, a communicator for each group. All of
/// them work on one stream: NCCL's communicators may not run side by side.
///
/// NCCL cannot tell ranks that run different operations; so in the first run of
/// work that all ranks know by a number they announce each operation to each
/// other before anything moves, and that they begin it in all later ones. While a
/// rank waits for its device it watches its peers, as NCCL does not.
class NcclComm : public DeviceComm {
public:
  explicit NcclComm(DeviceCommParts parts) : DeviceComm(std::move(parts)) {}
  ~NcclComm() override;

  /// DPC_INVALID where NCCL is not there, or two ranks have one device.
  dpc_status_t open(uint32_t eventCount) override;
  dpc_status_t begin(uint32_t number, bool isKept) override;

private:
  dpc_status_t move(const std::vector<dpc_comm_op_t> &ops) override;
  dpc_status_t settle() override;
  dpc_status_t check() override;
  void giveUp() override;

  dpc_status_t checkDevices();
  dpc_status_t connect();
  /// Waits for a communicator that is being made.
  dpc_status_t awaitReady(cuda::NcclComm comm, const char *what);
  dpc_status_t checkCall(cuda::NcclResult result, cuda::NcclComm comm, const char *what);
  dpc_status_t announce(const std::vector<dpc_comm_op_t> &ops);
  dpc_status_t enqueue(const dpc_comm_op_t &op);
  dpc_status_t enqueueParts(const dpc_comm_op_t &op, cuda::NcclComm comm);
  dpc_status_t copy(const void *from, void *to, uint64_t bytes);

  cuda::Nccl nccl;
  std::vector<cuda::NcclComm> comms; // by family; null: a group of one, or none
  std::vector<cuda::NcclComm> owned; // each once
  cuda::DevicePointer flag = 0;      // what barriers reduce
  void *registration = nullptr;      // of the memory, with the first of them
  bool announces = false;            // the operations that follow
  std::set<uint32_t> known;          // numbers whose operations were announced
  dpc_request_t begun = 0;           // what settle waits for
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_NCCLCOMM_H

// dpc as a contender.
#include "bench/hosts/Contender.h"
#include "dpc/action.h"
#include "dpc/comm.h"

#include <cstdlib>
#include <numeric>
#include <vector>

namespace dpc::bench {

namespace {

class Dpc : public Contender {
public:
  explicit Dpc(const Start &start) : start(start) {
    const size_t slash = start.way.find('/');
    const std::string transport = start.way.substr(0, slash);
    const std::string rendezvous = start.place.empty() ? "" : "tcp://" + start.place;
    size = slash == std::string::npos
               ? start.ranks
               : static_cast<uint32_t>(std::atoi(start.way.c_str() + slash + 1));
    if (size == 0 || start.ranks % size)
      giveUp(start, "the groups do not divide the ranks");
    std::vector<uint32_t> members(start.ranks);
    std::iota(members.begin(), members.end(), 0);
    const dpc_group_family_t families[] = {{"world", 1, start.ranks, members.data()},
                                           {"group", start.ranks / size, size, members.data()}};
    const std::vector<uint64_t> sizes(start.ranks, kLargest + DPC_ALIGNMENT);
    dpc_comm_options_t options = {};
    options.struct_size = sizeof options;
    options.rank = start.rank;
    options.world_size = start.ranks;
    options.family_count = 2;
    options.families = families;
    options.memory_bytes = sizes.data();
    options.rendezvous = rendezvous.c_str();
    options.token = std::getenv("DPC_TOKEN");
    options.listen_fd = -1;
    void *at = nullptr;
    check(dpc_comm_create(transport.c_str(), &options, &comm));
    check(comm->vtable->allocate(comm, kLargest, &at));
    buffer = static_cast<float *>(at);
  }
  ~Dpc() override { dpc_comm_release(comm); }

  float *memory() override { return buffer; }
  uint32_t summed() const override { return size; }
  void run(uint64_t bytes) override {
    const dpc_comm_op_t op = {DPC_OP_ALL_REDUCE,     1, 0,      DPC_F32, DPC_SUM, DPC_NONE,
                              bytes / sizeof(float), 1, buffer, buffer,  0,       0};
    check(dpc_comm_run(comm, &op));
  }

private:
  void check(dpc_status_t status) const {
    if (status != DPC_OK)
      giveUp(start, dpc_last_error());
  }

  const Start start;
  uint32_t size;
  dpc_comm_t *comm = nullptr;
  float *buffer = nullptr;
};

} // namespace

std::unique_ptr<Contender> makeDpc(const Start &start) { return std::make_unique<Dpc>(start); }

} // namespace dpc::bench

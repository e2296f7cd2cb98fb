// MPI_Allreduce as a contender.
#include "bench/Memory.h"
#include "bench/hosts/Contender.h"
#include "runtime/src/comm/mpi/Library.h"

#include <dlfcn.h>

namespace dpc::bench {

namespace {

using mpi::Handle;

class Mpi : public Contender {
public:
  explicit Mpi(const Start &start) : start(start), buffer(allocate(kLargest)) {
    int level = 0;
    if (!buffer)
      giveUp(start, "no memory");
    if (mpi::openLibrary(&library) != DPC_OK)
      giveUp(start, dpc_last_error());
    find("MPI_Allreduce", &allReduce);
    if (library.path.find("mpich") != std::string::npos) { // mpi.h of MPICH
      type = 0x4c00040a, sum = 0x58000003, inPlace = -1;
    } else { // an address in Open MPI's library
      find("ompi_mpi_float", &type);
      find("ompi_mpi_op_sum", &sum);
      inPlace = 1;
    }
    check(library.MPI_Init_thread(nullptr, nullptr, library.constants.funneled, &level));
  }
  ~Mpi() override { library.MPI_Finalize(); }

  float *memory() override { return reinterpret_cast<float *>(buffer); }
  uint32_t summed() const override { return start.ranks; }
  void run(uint64_t bytes) override {
    check(allReduce(reinterpret_cast<const void *>(inPlace), buffer,
                    static_cast<int>(bytes / sizeof(float)), type, sum, library.constants.world));
  }

private:
  template <typename Pointer> void find(const char *name, Pointer *out) {
    void *found = ::dlsym(RTLD_DEFAULT, name);
    if (!found)
      giveUp(start, library.path + " has no " + name);
    *reinterpret_cast<void **>(out) = found;
  }
  void check(int error) const {
    if (error)
      giveUp(start, library.describe(error));
  }

  const Start start;
  char *const buffer;
  mpi::Library library;
  int (*allReduce)(const void *, void *, int, Handle, Handle, Handle) = nullptr;
  Handle type = 0, sum = 0;
  intptr_t inPlace = 0;
};

} // namespace

std::unique_ptr<Contender> makeMpi(const Start &start) { return std::make_unique<Mpi>(start); }

} // namespace dpc::bench

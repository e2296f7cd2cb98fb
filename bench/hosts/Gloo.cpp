// Gloo's own algorithms as contenders.
#include "bench/Memory.h"
#include "bench/hosts/Contender.h"

#include <chrono>
#include <gloo/allreduce.h>
#include <gloo/allreduce_halving_doubling.h>
#include <gloo/allreduce_ring_chunked.h>
#include <gloo/math.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>
#include <sys/stat.h>
#include <vector>

namespace dpc::bench {

namespace {

using Context = ::gloo::rendezvous::Context;

/// Gloo has two interfaces: a function that takes the algorithm, and objects that keep buffers for
/// one size.
class Gloo : public Contender {
public:
  explicit Gloo(const Start &start) : start(start), buffer(allocate(kLargest)) {
    if (!buffer)
      giveUp(start, "no memory");
    const std::string path = start.folder + "/" + start.way;
    ::mkdir(path.c_str(), 0700); // the other rank may have made it
    ::gloo::rendezvous::FileStore store(path);
    auto device =
        ::gloo::transport::tcp::CreateDevice(::gloo::transport::tcp::attr(start.address.c_str()));
    context =
        std::make_shared<Context>(static_cast<int>(start.rank), static_cast<int>(start.ranks));
    context->setTimeout(std::chrono::minutes(5));
    context->connectFullMesh(store, device);
  }

  float *memory() override { return reinterpret_cast<float *>(buffer); }
  uint32_t summed() const override { return start.ranks; }

  void run(uint64_t bytes) override {
    if (start.way == "gloo-ring")
      return call(bytes, ::gloo::AllreduceOptions::Algorithm::RING);
    if (start.way == "gloo-bcube")
      return call(bytes, ::gloo::AllreduceOptions::Algorithm::BCUBE);
    if (bytes != kept) {
      algorithm.reset();
      const std::vector<float *> buffers = {memory()};
      const int count = static_cast<int>(bytes / sizeof(float));
      if (start.way == "gloo-halving")
        algorithm =
            std::make_unique<::gloo::AllreduceHalvingDoubling<float>>(context, buffers, count);
      else
        algorithm = std::make_unique<::gloo::AllreduceRingChunked<float>>(context, buffers, count);
      kept = bytes;
    }
    algorithm->run();
  }

private:
  void call(uint64_t bytes, ::gloo::AllreduceOptions::Algorithm which) {
    ::gloo::AllreduceOptions options(context);
    options.setAlgorithm(which);
    options.setOutput(memory(), bytes / sizeof(float));
    options.setReduceFunction(
        static_cast<void (*)(void *, const void *, const void *, size_t)>(&::gloo::sum<float>));
    ::gloo::allreduce(options);
  }

  const Start start;
  char *const buffer;
  std::shared_ptr<Context> context;
  std::unique_ptr<::gloo::Algorithm> algorithm;
  uint64_t kept = 0; ///< the bytes of `algorithm`
};

} // namespace

std::unique_ptr<Contender> makeGloo(const Start &start) {
  for (const char *way : {"gloo-ring", "gloo-bcube", "gloo-ring-chunked", "gloo-halving"})
    if (start.way == way)
      return std::make_unique<Gloo>(start);
  return nullptr;
}

} // namespace dpc::bench

// Computes convolutions, a kind of library call, by cuDNN. An algorithm is a plan of the library as
// text (runtime/src/cudnn/ConvolutionPlans.h).

#include "dpc/convolution.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/cuda/Libraries.h"
#include "runtime/src/cudnn/ConvolutionPlans.h"
#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"

#include <cstring>
#include <sstream>
#include <string>

namespace dpc {

namespace {

using Number = unsigned long long;
using cudnn::WantedConvolution;

static_assert(sizeof(WantedConvolution) == sizeof(dpc_convolution_t) + 4 * sizeof(uint64_t),
              "nothing lies between the members, whose bytes are a key");

/// Keys of convolutions begin with these characters, which no hexadecimal digits are.
constexpr const char *kKeyPrefix = "conv-";
/// The alignment in bytes of the workspace that the library gets.
constexpr uint64_t kConvolutionAlignment = 256;

/// The convolutions that cuDNN computes on a device.
class LibraryConvolutions : public LibraryCalls {
public:
  ~LibraryConvolutions() override;

  dpc_status_t open() override;
  uint64_t getVersion() const override { return library.cudnnGetVersion(); }
  uint32_t add(const WantedCall &call) override;
  size_t size() const override { return convolutions.size(); }
  dpc_status_t findChoices(uint32_t number, size_t most, std::vector<CallChoice> *out) override;
  dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers,
                   cuda::Stream stream) override;
  std::string getKey(uint32_t number) const override;
  std::string describe(uint32_t number) const override;

protected:
  dpc_status_t prepare(uint32_t number, const CallChoice &choice) override;

private:
  struct Prepared {
    WantedConvolution wanted;
    cudnn::Plan plan; ///< the plan of the choice that was taken last
  };

  dpc_status_t check(cuda::DnnStatus status, const char *what) const;
  cudnn::Device getDevice() const { return {handle, nullptr}; }

  cuda::Cudnn library;
  cuda::DnnHandle handle = nullptr;
  std::vector<Prepared> convolutions;
};

LibraryConvolutions::~LibraryConvolutions() {
  convolutions.clear();
  if (handle)
    library.cudnnDestroy(handle);
}

/// The library's own message says more than the status, but may have several lines.
dpc_status_t LibraryConvolutions::check(cuda::DnnStatus status, const char *what) const {
  if (status == cuda::DnnStatus::success)
    return DPC_OK;
  char message[256] = "";
  library.cudnnGetLastErrorString(message, sizeof message);
  message[strcspn(message, "\n")] = '\0';
  return fail(DPC_INVALID, "cuDNN: %s: %s%s%s", what, library.cudnnGetErrorString(status),
              *message ? ": " : "", message);
}

dpc_status_t LibraryConvolutions::open() {
  if (dpc_status_t status = cuda::openCudnn(library))
    return status;
  return check(library.cudnnCreate(&handle), "opening the library");
}

uint32_t LibraryConvolutions::add(const WantedCall &call) {
  WantedConvolution wanted;
  std::memcpy(&wanted.convolution, call.description, sizeof wanted.convolution);
  for (uint32_t i = 0; i < DPC_CONVOLUTION_WORKSPACE; ++i)
    wanted.alignments[i] = call.buffers[i].alignment;
  // run() skips up to `lost` bytes of the workspace, to align it.
  const uint64_t bytes = call.buffers[DPC_CONVOLUTION_WORKSPACE].bytes,
                 lost = kConvolutionAlignment - 1;
  wanted.workspaceBytes = bytes > lost ? bytes - lost : 0;
  for (uint32_t number = 0; number < convolutions.size(); ++number)
    if (std::memcmp(&convolutions[number].wanted, &wanted, sizeof wanted) == 0)
      return number;
  convolutions.emplace_back().wanted = wanted;
  return static_cast<uint32_t>(convolutions.size() - 1);
}

std::string LibraryConvolutions::getKey(uint32_t number) const {
  const WantedConvolution &wanted = convolutions[number].wanted;
  return kKeyPrefix + toHex(&wanted, sizeof wanted);
}

std::string LibraryConvolutions::describe(uint32_t number) const {
  const dpc_convolution_t &convolution = convolutions[number].wanted.convolution;
  std::ostringstream text;
  text << (convolution.result == DPC_CONVOLUTION_Y   ? "convolution"
           : convolution.result == DPC_CONVOLUTION_X ? "input gradient"
                                                     : "weight gradient");
  for (uint32_t buffer = 0; buffer < DPC_CONVOLUTION_Y; ++buffer) {
    const uint64_t *extents = dpc_convolution_tensor(&convolution, buffer)->extents;
    for (uint32_t i = 0; i < convolution.spatial + 2; ++i)
      text << (i ? "x" : " ") << extents[i];
  }
  text << " " << (convolution.tf32 ? "tf32" : dpc_dtype_name(convolution.dtype));
  return text.str();
}

dpc_status_t LibraryConvolutions::findChoices(uint32_t number, size_t most,
                                              std::vector<CallChoice> *out) {
  out->clear();
  for (cudnn::Plan &plan :
       cudnn::findPlans(library, getDevice(), convolutions[number].wanted, most))
    out->emplace_back().algorithm = std::move(plan.text);
  return DPC_OK;
}

dpc_status_t LibraryConvolutions::prepare(uint32_t number, const CallChoice &choice) {
  cudnn::Plan plan = cudnn::readPlan(library, getDevice(), choice.algorithm);
  if (dpc_status_t status =
          check(plan.descriptor.getStatus(),
                "this device does not make a convolution as the rank that chose its plan"))
    return status;
  const uint64_t most = convolutions[number].wanted.workspaceBytes;
  if (plan.workspaceBytes > most)
    return fail(DPC_INVALID, "cuDNN: a plan needs %llu bytes of workspace, and has %llu",
                Number(plan.workspaceBytes), Number(most));
  convolutions[number].plan = std::move(plan);
  return DPC_OK;
}

dpc_status_t LibraryConvolutions::run(uint32_t number, const cuda::DevicePointer *buffers,
                                      cuda::Stream stream) {
  const cuda::DevicePointer aligned =
      (buffers[DPC_CONVOLUTION_WORKSPACE] + kConvolutionAlignment - 1) / kConvolutionAlignment *
      kConvolutionAlignment;
  return check(cudnn::runPlan(library, handle, convolutions[number].plan, buffers, aligned, stream),
               "a convolution");
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

dpc_status_t checkConvolution(const void *description) {
  const auto &convolution = *static_cast<const dpc_convolution_t *>(description);
  if (dpc_convolution_is_valid(&convolution))
    return DPC_OK;
  return fail(DPC_INVALID,
              "a convolution of type %u with %u spatial dimensions, %llu groups and result %u, of "
              "%llu x %llu by %llu x %llu channels",
              convolution.dtype, convolution.spatial, Number(convolution.groups),
              convolution.result, Number(convolution.x.extents[0]),
              Number(convolution.x.extents[1]), Number(convolution.w.extents[0]),
              Number(convolution.w.extents[1]));
}

uint32_t countConvolutionBuffers(const void *) { return DPC_CONVOLUTION_BUFFERS; }

dpc_status_t checkConvolutionBuffer(const void *description, uint32_t buffer, uint64_t bytes) {
  const auto &convolution = *static_cast<const dpc_convolution_t *>(description);
  if (dpc_convolution_buffer_bytes(&convolution, buffer) <= bytes)
    return DPC_OK;
  const dpc_convolution_tensor_t &tensor = *dpc_convolution_tensor(&convolution, buffer);
  return fail(DPC_INVALID,
              "tensor %u of a convolution, %llu x %llu x .. with strides of %llu and %llu, has a "
              "buffer of %llu bytes",
              buffer, Number(tensor.extents[0]), Number(tensor.extents[1]),
              Number(tensor.strides[0]), Number(tensor.strides[1]), Number(bytes));
}

bool isConvolutionKey(const std::string &text) {
  WantedConvolution wanted;
  const std::string prefix = kKeyPrefix;
  return text.compare(0, prefix.size(), prefix) == 0 &&
         fromHex(text.substr(prefix.size()), &wanted, sizeof wanted);
}

bool isConvolutionAlgorithm(const std::string &algorithm) {
  return !algorithm.empty() && algorithm[0] == '{';
}

std::unique_ptr<LibraryCalls> makeConvolutions() { return std::make_unique<LibraryConvolutions>(); }

} // namespace

const CallKind kConvolutionCalls = {
    DPC_CALL_CONVOLUTION,
    "convolution",
    "convolutions",
    "convolutions",
    "tensor",
    "cuDNN",
    sizeof(dpc_convolution_t),
    checkConvolution,
    countConvolutionBuffers,
    checkConvolutionBuffer,
    isConvolutionKey,
    isConvolutionAlgorithm,
    makeConvolutions,
};

} // namespace dpc

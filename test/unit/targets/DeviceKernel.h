#ifndef DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H
#define DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

#include "test/unit/targets/RunnableKernel.h"

#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"
#include "test/gpu/RecordedKernel.h"

#include <map>
#include <memory>

namespace dpc::test {

/// An `nn.kernel` or `nn.update`, compiled to PTX and loaded into the device of this
/// process. This is the emulated device, unless DPC_CUDA_LIBRARIES names a folder with
/// another driver. If a launch has a library call, the library computes it. If
/// DPC_RECORD_KERNELS names a file, runs of kernels without library calls are appended to
/// this file.
class DeviceKernel : public RunnableKernel {
public:
  /// Compiles and loads `op`. If this fails, the test fails and the result is null.
  static std::unique_ptr<DeviceKernel> create(mlir::Operation *op, const CodeOptions &options = {});
  /// The number of launches that have a library call.
  size_t countCalls() const;
  ~DeviceKernel() override;

  std::string ptx;

private:
  explicit DeviceKernel(mlir::TypeRange results) : RunnableKernel(results) {}
  void call(llvm::ArrayRef<TensorBuffer *> buffers) override;

  /// A library call: call `number` of `calls`. `calls` is null for launches without one.
  struct Call {
    LibraryCalls *calls = nullptr;
    uint32_t number = 0;
  };

  Call addCall(const LibraryCall &call);
  void runCall(const LibraryCall &call, const Call &known,
               llvm::function_ref<cuda::DevicePointer(unsigned buffer)> place);

  std::map<uint32_t, std::unique_ptr<LibraryCalls>> libraries; // by DPC_CALL_*
  std::vector<Call> calls;                                     // one per launch
  cuda::Module module = nullptr;
  std::vector<cuda::Function> functions; // one per launch
  std::string symbol;                    // the prefix of the names of `functions`
  RecordedKernel recorded;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

#ifndef DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H
#define DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

#include "test/unit/targets/RunnableKernel.h"

#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"
#include "test/gpu/RecordedKernel.h"

#include <map>
#include <memory>

namespace dpc::test {

/// An `nn.kernel` or `nn.update` as PTX, loaded into the device of this process:
/// the emulated one, unless DPC_CUDA_LIBRARIES says where another driver is. The
/// library makes the calls that launches leave to it. Runs without such are
/// appended to the file that DPC_RECORD_KERNELS names, where it is set.
class DeviceKernel : public RunnableKernel {
public:
  /// Null, after a failed expectation, when it does not compile.
  static std::unique_ptr<DeviceKernel> create(mlir::Operation *op, const CodeOptions &options = {});
  /// How many launches are library calls.
  size_t countCalls() const;
  ~DeviceKernel() override;

  std::string ptx;

private:
  explicit DeviceKernel(mlir::TypeRange results) : RunnableKernel(results) {}
  void call(llvm::ArrayRef<TensorBuffer *> buffers) override;

  /// A call that a library knows by its number.
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
  std::vector<cuda::Function> functions; // one a launch
  std::string symbol;                    // what their names begin with
  RecordedKernel recorded;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

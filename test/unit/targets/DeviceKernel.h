#ifndef DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H
#define DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

#include "test/unit/targets/RunnableKernel.h"

#include "runtime/src/cuda/Libraries.h"

#include <memory>

namespace dpc::test {

/// An `nn.kernel` or `nn.update` as PTX, loaded into the device of this process:
/// the emulated one, unless DPC_CUDA_LIBRARIES says where another driver is.
class DeviceKernel : public RunnableKernel {
public:
  /// Null, after a failed expectation, when it does not compile.
  static std::unique_ptr<DeviceKernel> create(mlir::Operation *op, const CodeOptions &options = {});
  ~DeviceKernel() override;

  std::string ptx;

private:
  explicit DeviceKernel(mlir::TypeRange results) : RunnableKernel(results) {}
  void call(llvm::ArrayRef<TensorBuffer *> buffers) override;

  cuda::Module module = nullptr;
  std::vector<cuda::Function> functions; // one a launch
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

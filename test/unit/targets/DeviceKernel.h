#ifndef DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H
#define DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

#include "test/unit/targets/RunnableKernel.h"

#include "runtime/src/device/LibraryProducts.h"
#include "test/gpu/RecordedKernel.h"

#include <memory>

namespace dpc::test {

/// An `nn.kernel` or `nn.update` as PTX, loaded into the device of this process:
/// the emulated one, unless DPC_CUDA_LIBRARIES says where another driver is. The
/// library makes the products that launches leave to it. Runs without such are
/// appended to the file that DPC_RECORD_KERNELS names, where it is set.
class DeviceKernel : public RunnableKernel {
public:
  /// Null, after a failed expectation, when it does not compile.
  static std::unique_ptr<DeviceKernel> create(mlir::Operation *op, const CodeOptions &options = {});
  /// How many launches the library makes.
  size_t countProducts() const;
  ~DeviceKernel() override;

  std::string ptx;

private:
  explicit DeviceKernel(mlir::TypeRange results) : RunnableKernel(results) {}
  void call(llvm::ArrayRef<TensorBuffer *> buffers) override;

  uint32_t addProduct(const LibraryProduct &product);
  void runProduct(const LibraryProduct &product, uint32_t number,
                  llvm::function_ref<cuda::DevicePointer(unsigned buffer)> place);

  LibraryProducts products;
  std::vector<uint32_t> productNumbers; // one a launch
  cuda::Module module = nullptr;
  std::vector<cuda::Function> functions; // one a launch
  std::string symbol;                    // what their names begin with
  RecordedKernel recorded;
};

} // namespace dpc::test

#endif // DPC_TEST_UNIT_TARGETS_DEVICEKERNEL_H

#ifndef DPC_DIALECTS_INTERFACES_CONSTANTCONTEXT_H
#define DPC_DIALECTS_INTERFACES_CONSTANTCONTEXT_H

#include "dialects/Interfaces/Interfaces.h"

namespace dpc {

/// The interpreter's services during constant folding. Folding accepts only ops
/// that have no region and do not depend on the device, so the services for
/// regions and exchanges fail.
class ConstantContext : public InterpreterContext {
public:
  mlir::LogicalResult runRegion(mlir::Region &, llvm::ArrayRef<HostTensor>,
                                llvm::SmallVectorImpl<HostTensor> &) override {
    return mlir::failure();
  }
  mlir::LogicalResult runElementwiseRegion(mlir::Region &, llvm::ArrayRef<int64_t>,
                                           llvm::ArrayRef<HostTensor>,
                                           llvm::SmallVectorImpl<HostTensor> &) override {
    return mlir::failure();
  }
  int64_t getAxisIndex(llvm::StringRef) override { return 0; }
  int64_t getGroupIndex(llvm::ArrayRef<llvm::StringRef>) override { return 0; }
  void setSequentialIndex(llvm::StringRef, int64_t) override {}
  mlir::FailureOr<std::vector<HostTensor>>
  exchange(mlir::Operation *, llvm::ArrayRef<llvm::StringRef>, const HostTensor &) override {
    return mlir::failure();
  }
};

} // namespace dpc

#endif // DPC_DIALECTS_INTERFACES_CONSTANTCONTEXT_H

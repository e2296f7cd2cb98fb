#ifndef DPC_TOOLS_COMMON_NAMEPASSES_H
#define DPC_TOOLS_COMMON_NAMEPASSES_H

#include "dialects/Interfaces/CurrentWork.h"

#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"

namespace dpc {

/// Records the current pass, for the message with which a tool ends if memory is exhausted.
class NamePasses : public mlir::PassInstrumentation {
public:
  void runBeforePass(mlir::Pass *pass, mlir::Operation *) override {
    CurrentWork::setPass(pass->getArgument());
  }
  void runAfterPass(mlir::Pass *, mlir::Operation *) override { CurrentWork::setPass({}); }
  void runAfterPassFailed(mlir::Pass *, mlir::Operation *) override { CurrentWork::setPass({}); }
};

} // namespace dpc

#endif // DPC_TOOLS_COMMON_NAMEPASSES_H

#include "targets/Target.h"

using namespace dpc;

static std::vector<std::unique_ptr<Target>> &registered() {
  static std::vector<std::unique_ptr<Target>> targets;
  return targets;
}

void dpc::registerTarget(std::unique_ptr<Target> target) {
  registered().push_back(std::move(target));
}

const Target *dpc::findTarget(llvm::StringRef name) {
  for (const auto &target : registered())
    if (target->getName() == name)
      return target.get();
  return nullptr;
}

void dpc::registerTargetDialects(mlir::DialectRegistry &registry) {
  for (const auto &target : registered())
    target->registerDialects(registry);
}

std::vector<const Target *> dpc::getTargets() {
  std::vector<const Target *> targets;
  for (const auto &target : registered())
    targets.push_back(target.get());
  return targets;
}

// Random requests for layouts, on a program that has none.

#include "test/unit/passes/Sharding/RandomRequests.h"

#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/NN/IR/NNDialect.h"
#include "passes/Sharding/Search/LayoutRequests.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

/// Names of the mesh's axes of devices.
static std::vector<std::string> devicesOf(const RandomMesh &mesh) {
  std::vector<std::string> axes;
  for (const std::string &axis : mesh.axes) {
    std::string name = StringRef(axis).split('=').first.str();
    if (!llvm::is_contained(mesh.sequential, name))
      axes.push_back(name);
  }
  return axes;
}

/// A request for something of `rank` in which some of `axes` cut some dimensions, and
/// `batchAxes` the dimension `batch`, as the host delivers samples.
static RequestedAxes makeRequest(int64_t rank, std::vector<std::string> axes, int64_t batch,
                                 const RandomMesh &mesh, std::mt19937 &random) {
  RequestedAxes dims(rank);
  if (batch >= 0)
    for (const std::string &axis : mesh.batchAxes)
      if (llvm::is_contained(axes, axis)) {
        dims[batch].push_back(axis);
        llvm::erase(axes, axis);
      }
  std::shuffle(axes.begin(), axes.end(), random);
  for (const std::string &axis : axes)
    if (int64_t dim = random() % rank; dim != batch && random() % 4)
      dims[dim].push_back(axis);
  return dims;
}

int dpc::test::addRequests(PartitionCase &trial, std::mt19937 &random) {
  static const std::vector<std::pair<double, double>> links = {{5e9, 5e-6}, {1e15, 0}, {1e6, 1e-3}};
  LinkLevel &level = trial.machine.topology.levels.front();
  std::tie(level.bytesPerSecond, level.startSeconds) = links[random() % links.size()];
  const std::vector<std::string> axes = devicesOf(trial.mesh);
  MLIRContext *context = trial.module.get().getContext();
  int count = 0;
  auto attrOf = [&](Value value, int64_t batch) {
    ++count;
    return requestAttr(context,
                       makeRequest(nn::typeOf(value).getRank(), axes, batch, trial.mesh, random));
  };
  auto isAsked = [&](Value value) { return nn::typeOf(value).getRank() > 0 && random() % 4 == 0; };
  for (auto function : trial.module.get().getOps<func::FuncOp>()) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      nn::ArgAttr arg = nn::getArg(function, i);
      const bool isState = nn::isState(arg.getKind());
      // What @step says of state holds in @eval.
      if (function.getArgAttr(i, dist::DistDialect::kLayoutAttrName) ||
          (isState && function.getName() != "step") || !isAsked(function.getArgument(i)))
        continue;
      function.setArgAttr(i, dist::DistDialect::kRequestAttrName,
                          attrOf(function.getArgument(i), isState ? -1 : arg.getBatch()));
    }
    for (Operation &op : function.front().without_terminator())
      if (isAsked(op.getResult(0)))
        op.setAttr(dist::DistDialect::kRequestAttrName, attrOf(op.getResult(0), -1));
  }
  return count;
}

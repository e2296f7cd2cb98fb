#include "passes/Lowering/CommunicationOrder.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/FlatStorage.h"
#include "dialects/NN/IR/Shape.h"

using namespace mlir;
using namespace dpc;

bool dpc::isCollective(Operation *op) {
  return isa<dist::AllReduceOp, dist::AllGatherOp, dist::ReduceScatterOp>(op);
}

bool dpc::isView(Operation *op) {
  return isa<nn::ReshapeOp, dist::UnpackOp, dist::ShareOp>(op);
}

bool dpc::feedsCollective(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isCollective(user) ||
           (isView(user) && llvm::any_of(user->getResults(), feedsCollective));
  });
}

llvm::DenseMap<Operation *, int64_t> dpc::orderByCommunication(Block &block) {
  llvm::DenseMap<Operation *, int64_t> depths;
  SmallVector<Operation *> ops;
  for (Operation &op : block.without_terminator()) {
    int64_t depth = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        auto known = depths.find(producer);
        if (producer && known != depths.end())
          depth =
              std::max(depth, known->second + (isCollective(producer) ? 1 : 0));
      }
    });
    depths[&op] = depth;
    ops.push_back(&op);
  }
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) {
    return depths.lookup(a) < depths.lookup(b);
  });
  Operation *end = block.getTerminator();
  for (Operation *op : ops)
    op->moveBefore(end);
  return depths;
}

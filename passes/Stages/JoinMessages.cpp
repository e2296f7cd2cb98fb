// Joins small messages between two stages.

#include "passes/Stages/Passes.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/Messages.h"
#include "dialects/Dist/IR/Stages.h"
#include "dialects/NN/IR/Expressions.h"
#include "dialects/NN/IR/Shape.h"
#include "planning/Prices.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <tuple>

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_JOINMESSAGES
#include "passes/Stages/Passes.h.inc"
} // namespace dpc

using namespace dpc;

namespace {

/// The two ends of a message.
struct Message {
  dist::SendOp send;
  dist::RecvOp recv;
};

RankedTensorType typeOf(Message message) {
  return cast<RankedTensorType>(message.recv.getResult().getType());
}

struct JoinMessagesPass : dpc::impl::JoinMessagesBase<JoinMessagesPass> {
  void runOnOperation() override {
    const SmallVector<dist::RankProgram> programs = dist::programsOf(getOperation());
    if (programs.size() < 2)
      return;
    FailureOr<MeshPrices> prices = dist::getMeshPrices(getOperation());
    if (failed(prices))
      return signalPassFailure();
    std::map<int64_t, Message> byNumber;
    // By send: the number of the ops before it, in its block, that wait for other stages.
    llvm::DenseMap<Operation *, unsigned> waitsBefore; // looked up by key only
    for (dist::RankProgram program : programs)
      program.module.walk([&](Block *block) {
        unsigned waits = 0;
        for (Operation &op : *block) {
          if (auto send = dyn_cast<dist::SendOp>(op)) {
            byNumber[send.getNumber()].send = send;
            waitsBefore[send] = waits;
          } else if (auto recv = dyn_cast<dist::RecvOp>(op)) {
            byNumber[recv.getNumber()].recv = recv;
            ++waits;
          } else if (isa<dist::StageReduceOp>(op) || op.getNumRegions() > 0) {
            ++waits;
          }
        }
      });
    // Messages are joined if the same chunk reads them first, and if their stage does not wait for
    // any stage between them: only then can no stage wait for the first message in vain.
    using Key = std::tuple<Block *, unsigned, Block *, int64_t, bool, const void *>;
    llvm::MapVector<Key, SmallVector<Message>, std::map<Key, unsigned>> groups;
    for (auto &[number, message] : byNumber)
      if (message.send && message.recv && isSmall(typeOf(message), *prices))
        groups[{message.send->getBlock(), waitsBefore.lookup(message.send),
                message.recv->getBlock(), message.recv.getChunk().value_or(-1),
                message.recv.getBackward(), typeOf(message).getElementType().getAsOpaquePointer()}]
            .push_back(message);
    for (auto &[key, messages] : groups)
      join(messages);
  }

private:
  /// Whether copying a value into a joined message and out of it takes no longer than a message of
  /// its own takes to start.
  static bool isSmall(RankedTensorType type, const MeshPrices &prices) {
    const double copied = 2. * double(tensorBytes(type));
    return 2 * workSeconds(prices.device(), {/*flops=*/0, copied, KernelClass::copy}) <=
           prices.message(0, dist::kPipeAxis).seconds;
  }

  static void join(SmallVector<Message> messages) {
    auto isLess = [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); };
    auto lastRecv = [&] {
      Operation *last = messages.front().recv;
      for (Message message : messages)
        if (isLess(last, message.recv))
          last = message.recv;
      return last;
    };
    // All values are received where the last one is, so no op may read a value before.
    while (messages.size() > 1) {
      Operation *last = lastRecv();
      const size_t before = messages.size();
      llvm::erase_if(messages, [&](Message message) {
        return llvm::any_of(message.recv->getUsers(), [&](Operation *user) {
          return isLess(last->getBlock()->findAncestorOpInBlock(*user), last);
        });
      });
      if (messages.size() == before)
        break;
    }
    if (messages.size() < 2)
      return;
    dist::RecvOp recv = cast<dist::RecvOp>(lastRecv());
    dist::SendOp send = messages.front().send;
    int64_t elements = 0;
    for (Message message : messages) {
      if (isLess(send, message.send))
        send = message.send;
      elements += typeOf(message).getNumElements();
    }
    const auto type = RankedTensorType::get({elements}, typeOf({send, recv}).getElementType());

    OpBuilder builder(send);
    nn::Expressions sender{builder, send.getLoc()};
    SmallVector<Value> parts;
    for (Message message : messages)
      parts.push_back(sender.reshape(message.send.getInput(), {typeOf(message).getNumElements()}));
    Value joined = builder.create<nn::ConcatOp>(send.getLoc(), type, parts, 0);
    builder.create<dist::SendOp>(send.getLoc(), joined, send.getStageAttr(), send.getMeshAttr(),
                                 send.getAxisAttr(), send.getNumberAttr(), send.getBackwardAttr());

    builder.setInsertionPoint(recv);
    auto received = builder.create<dist::RecvOp>(
        recv.getLoc(), type, recv.getStageAttr(), recv.getMeshAttr(), recv.getAxisAttr(),
        send.getNumberAttr(), recv.getChunkAttr(), recv.getBackwardAttr());
    int64_t offset = 0;
    for (Message message : messages) {
      const RankedTensorType own = typeOf(message);
      nn::Expressions receiver{builder, message.recv.getLoc()};
      const int64_t end = offset + own.getNumElements();
      Value part =
          builder.create<nn::SliceOp>(message.recv.getLoc(), received.getResult(), ArrayRef{offset},
                                      ArrayRef{end}, ArrayRef<int64_t>{1});
      offset = end;
      message.recv.getResult().replaceAllUsesWith(receiver.reshape(part, own.getShape()));
    }
    for (Message message : messages) {
      message.send->erase();
      message.recv->erase();
    }
  }
};

} // namespace

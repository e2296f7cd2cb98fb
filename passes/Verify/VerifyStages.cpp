// Checks the stages of a pipeline against each other.

#include "passes/Verify/Contract.h"
#include "passes/Verify/Passes.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/Messages.h"

#include "llvm/ADT/SetVector.h"

#include <map>
#include <set>

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_VERIFYSTAGES
#include "passes/Verify/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;

namespace {

/// The part of one function that one stage runs.
struct StageFunction {
  int64_t stage;
  func::FuncOp function;
  /// The messages and reductions in the order in which the stage reaches them, with those of a loop
  /// once per iteration.
  std::vector<Operation *> events;
};

struct VerifyStagesPass : dpc::impl::VerifyStagesBase<VerifyStagesPass> {
  void runOnOperation() override {
    if (!getOperation().getOps<ModuleOp>().empty() && failed(verify()))
      signalPassFailure();
  }

private:
  static InFlightDiagnostic violation(Operation *op) { return op->emitError("stages: "); }

  LogicalResult verify() {
    std::map<std::string, std::vector<StageFunction>> functions;
    if (failed(collect(functions)))
      return failure();
    for (auto &[name, parts] : functions)
      if (failed(verifyAxes(parts)) || failed(verifyMessages(parts)) ||
          failed(verifyReductions(parts)) || failed(play(parts)) || failed(verifyResults(parts)))
        return failure();
    return verifyStates(functions);
  }

  /// Collects the functions of all stages by name.
  LogicalResult collect(std::map<std::string, std::vector<StageFunction>> &functions) {
    ModuleOp module = getOperation();
    FailureOr<MeshShape> mesh = Contract(module, "local").getMesh();
    if (failed(mesh))
      return failure();
    for (auto function : module.getOps<func::FuncOp>())
      return violation(function) << "@" << function.getName() << " is in no stage"; // S1
    std::set<int64_t> stages;
    for (auto stage : module.getOps<ModuleOp>()) {
      auto number = stage->getAttrOfType<IntegerAttr>(DistDialect::kStageAttrName);
      if (!number || number.getInt() < 0 || number.getInt() >= mesh->axisSize(kPipeAxis)) // S1
        return violation(stage) << "the module is no stage of " << mesh->axisSize(kPipeAxis);
      if (!stages.insert(number.getInt()).second) // S1
        return violation(stage) << "two modules are stage " << number.getInt();
      if (!(getMeshShape(stage) == *mesh)) // S1
        return violation(stage) << "the mesh differs from that of the program";
      for (auto function : stage.getOps<func::FuncOp>()) {
        StageFunction part{number.getInt(), function, {}};
        addEvents(function.front(), part.events);
        functions[function.getName().str()].push_back(std::move(part));
      }
    }
    if (int64_t(stages.size()) != mesh->axisSize(kPipeAxis)) // S1
      return violation(module) << "has " << stages.size() << " of " << mesh->axisSize(kPipeAxis)
                               << " stages";
    return success();
  }

  static void addEvents(Block &block, std::vector<Operation *> &events) {
    for (Operation &op : block)
      if (auto loop = dyn_cast<MicroOp>(op)) {
        std::vector<Operation *> own;
        addEvents(loop.getBodyBlock(), own);
        for (uint64_t turn = 0; turn < loop.getCount(); ++turn)
          llvm::append_range(events, own);
      } else if (isa<SendOp, RecvOp, StageReduceOp>(op)) {
        events.push_back(&op);
      }
  }

  static LogicalResult verifyAxes(const std::vector<StageFunction> &parts) {
    for (const StageFunction &part : parts)
      for (Operation *op : part.events) {
        auto axis = op->getAttrOfType<StringAttr>("axis");
        if (axis.getValue() != kPipeAxis) // S2, S3
          return violation(op) << "an exchange along the axis '" << axis.getValue() << "'";
      }
    return success();
  }

  static LogicalResult verifyMessages(const std::vector<StageFunction> &parts) {
    struct Ends {
      SendOp send;
      RecvOp recv;
      int64_t sender = 0, receiver = 0;
    };
    std::map<int64_t, Ends> messages;
    for (const StageFunction &part : parts)
      for (Operation *op : llvm::SetVector<Operation *>(part.events.begin(), part.events.end())) {
        if (auto send = dyn_cast<SendOp>(op)) {
          Ends &ends = messages[send.getNumber()];
          if (ends.send) // S2
            return violation(op) << "message " << send.getNumber() << " has two senders";
          ends.send = send, ends.sender = part.stage;
        } else if (auto recv = dyn_cast<RecvOp>(op)) {
          Ends &ends = messages[recv.getNumber()];
          if (ends.recv) // S2
            return violation(op) << "message " << recv.getNumber() << " has two receivers";
          ends.recv = recv, ends.receiver = part.stage;
        }
      }
    for (auto &[number, ends] : messages) {
      if (!ends.recv) // S2
        return violation(ends.send) << "message " << number << " has a sender and no receiver";
      if (!ends.send) // S2
        return violation(ends.recv) << "message " << number << " has a receiver and no sender";
      if (int64_t(ends.send.getStage()) != ends.receiver ||
          int64_t(ends.recv.getStage()) != ends.sender) // S2
        return violation(ends.send)
               << "message " << number << " goes from stage " << ends.sender << " to "
               << ends.send.getStage() << ", but stage " << ends.receiver << " receives it from "
               << ends.recv.getStage();
      if (ends.sender == ends.receiver) // S2
        return violation(ends.send)
               << "stage " << ends.sender << " sends message " << number << " to itself";
      if (ends.send.getInput().getType() != ends.recv.getType()) // S2
        return violation(ends.send)
               << "message " << number << " is sent as " << ends.send.getInput().getType()
               << " and received as " << ends.recv.getType();
    }
    return success();
  }

  static LogicalResult verifyReductions(const std::vector<StageFunction> &parts) {
    std::map<int64_t, std::map<int64_t, StageReduceOp>> reductions;
    for (const StageFunction &part : parts)
      for (Operation *op : llvm::SetVector<Operation *>(part.events.begin(), part.events.end()))
        if (auto reduce = dyn_cast<StageReduceOp>(op))
          if (!reductions[reduce.getNumber()].emplace(part.stage, reduce).second) // S3
            return violation(op) << "stage " << part.stage << " has two reductions with number "
                                 << reduce.getNumber();
    for (auto &[number, members] : reductions) {
      StageReduceOp first = members.begin()->second;
      SmallVector<int64_t> stages;
      for (auto &[stage, reduce] : members) {
        stages.push_back(stage);
        if (reduce.getType() != first.getType() || reduce.getStages() != first.getStages()) // S3
          return violation(reduce)
                 << "reduction " << number << " is of " << reduce.getType() << " among stages "
                 << reduce.getStages() << ", and in stage " << stages.front() << " of "
                 << first.getType() << " among " << first.getStages();
      }
      if (ArrayRef<int64_t>(stages) != first.getStages()) // S3
        return violation(first) << "reduction " << number << " is among stages "
                                << first.getStages() << ", but stages " << ArrayRef<int64_t>(stages)
                                << " have it";
    }
    return success();
  }

  /// Runs the events of all stages together, and fails if a stage never ends.
  static LogicalResult play(const std::vector<StageFunction> &parts) { // S4
    // By number of a message: how often it was sent and not yet received. By number of a reduction
    // and stage: how often the stage has reached it.
    std::map<int64_t, int64_t> sent;
    std::map<int64_t, std::map<int64_t, int64_t>> reached;
    // By part: its next event, and whether it waits at this event.
    std::vector<size_t> next(parts.size());
    std::vector<bool> waits(parts.size());
    auto canPass = [&](const StageFunction &part, Operation *op, bool isNew) {
      if (auto send = dyn_cast<SendOp>(op)) {
        ++sent[send.getNumber()];
        return true;
      }
      if (auto recv = dyn_cast<RecvOp>(op)) {
        if (sent[recv.getNumber()] == 0)
          return false;
        --sent[recv.getNumber()];
        return true;
      }
      auto reduce = cast<StageReduceOp>(op);
      std::map<int64_t, int64_t> &times = reached[reduce.getNumber()];
      times[part.stage] += isNew;
      return llvm::all_of(reduce.getStages(),
                          [&](int64_t member) { return times[member] >= times[part.stage]; });
    };
    for (bool progress = true; progress;) {
      progress = false;
      for (auto [index, part] : llvm::enumerate(parts))
        while (next[index] < part.events.size()) {
          const bool isNew = !waits[index];
          waits[index] = !canPass(part, part.events[next[index]], isNew);
          progress |= isNew || !waits[index];
          if (waits[index])
            break;
          ++next[index];
        }
    }
    for (auto [index, part] : llvm::enumerate(parts))
      if (next[index] < part.events.size())
        return violation(part.events[next[index]])
               << "stage " << part.stage << " waits for ever in @"
               << func::FuncOp(part.function).getName();
    for (const StageFunction &part : parts)
      for (Operation *op : part.events)
        if (auto send = dyn_cast<SendOp>(op); send && sent[send.getNumber()] > 0)
          return violation(op) << "message " << send.getNumber()
                               << " is sent more often than received";
    return success();
  }

  /// Checks that one stage returns each result that is no state.
  static LogicalResult verifyResults(const std::vector<StageFunction> &parts) {
    std::map<std::string, int64_t> owners;
    for (const StageFunction &part : parts) {
      func::FuncOp function = part.function;
      for (unsigned i = 0; i < function.getNumResults(); ++i) {
        nn::ResultAttr result = nn::getResult(function, i);
        if (!result || result.getKind() == nn::ResultKind::state)
          continue;
        auto [owner, isNew] = owners.try_emplace(result.getName().str(), part.stage);
        if (!isNew) // S5
          return violation(function) << "stages " << owner->second << " and " << part.stage
                                     << " return '" << result.getName() << "'";
      }
    }
    return success();
  }

  /// A state of the program: its type and layout, and the stages that have it as an argument of
  /// some function or return its new value.
  struct State {
    Type type;
    Attribute layout;
    std::set<int64_t> held, returned;
  };

  LogicalResult verifyStates(const std::map<std::string, std::vector<StageFunction>> &functions) {
    std::map<std::string, State> states;
    for (const auto &[name, parts] : functions)
      for (const StageFunction &part : parts) {
        func::FuncOp function = part.function;
        for (unsigned i = 0; i < function.getNumArguments(); ++i) {
          nn::ArgAttr arg = nn::getArg(function, i);
          if (!arg || !nn::isState(arg.getKind()))
            continue;
          State &state = states[arg.getName().str()];
          Type type = function.getArgumentTypes()[i];
          Attribute layout = function.getArgAttr(i, DistDialect::kLayoutAttrName);
          if (state.type && (state.type != type || state.layout != layout)) // S6
            return violation(function)
                   << "the state '" << arg.getName() << "' is " << type << " on stage "
                   << part.stage << " and " << state.type << " elsewhere, or their layouts differ";
          state.type = type, state.layout = layout;
          state.held.insert(part.stage);
        }
        for (unsigned i = 0; i < function.getNumResults(); ++i)
          if (nn::ResultAttr result = nn::getResult(function, i);
              result && result.getKind() == nn::ResultKind::state)
            states[result.getName().str()].returned.insert(part.stage);
      }
    for (const auto &[name, state] : states)
      if (!state.returned.empty() && state.held != state.returned) // S6
        return violation(getOperation())
               << "stages " << listOf(state.held) << " hold the state '" << name << "', and stages "
               << listOf(state.returned) << " return its new value";
    return success();
  }

  static std::string listOf(const std::set<int64_t> &stages) {
    std::string text;
    for (int64_t stage : stages)
      text += (text.empty() ? "" : ", ") + std::to_string(stage);
    return text.empty() ? "none" : text;
  }
};

} // namespace

// Writes the user's requests on the arguments and ops that their globs match.

#include "passes/Sharding/Passes.h"
#include "passes/Sharding/Search/LayoutRequests.h"

#include "dialects/Interfaces/NodeNames.h"
#include "dialects/NN/IR/FileTensors.h"

#include "llvm/Support/GlobPattern.h"

using namespace mlir;

namespace dpc {
#define GEN_PASS_DEF_ANNOTATELAYOUTS
#include "passes/Sharding/Passes.h.inc"
} // namespace dpc

using namespace dpc;
using namespace dpc::dist;
using nn::ArgAttr;
using nn::ArgKind;
using nn::ResultKind;

namespace {

/// One request: the pattern that names must match, and the axes that shard each dimension. If
/// the request comes from the model file, it may have a complete layout instead of axes.
struct Request {
  std::string pattern;
  /// Absent for a request of the model file, whose pattern is the exact name of one tensor or
  /// node.
  std::optional<llvm::GlobPattern> glob;
  RequestedAxes dims;
  std::optional<Layout> layout;
  bool used = false;
};

/// The values that nodes of the ONNX file compute, by the names of the nodes. Ops of the
/// backward pass carry the names of nodes too. Therefore a value is included only if the loss or
/// an output depends on it.
class NodeValues {
public:
  explicit NodeValues(func::FuncOp function) {
    std::vector<Operation *> todo{function.front().getTerminator()};
    llvm::DenseSet<Operation *> forward(todo.begin(), todo.end());
    for (OpOperand &operand : todo[0]->getOpOperands())
      if (isForward(nn::getResult(function, operand.getOperandNumber())))
        add(operand.get(), forward, todo);
    for (size_t next = 1; next < todo.size(); ++next)
      for (Value operand : todo[next]->getOperands())
        add(operand, forward, todo);
    for (Operation &op : function.front().without_terminator())
      if (forward.contains(&op))
        if (std::optional<StringRef> node = onlyNodeOf(op.getLoc());
            node && !isOfLoss(op.getLoc()) && isRead(op, forward))
          offer(*node, op.getResult(0));
  }

  const llvm::MapVector<StringRef, Value> &get() const { return values; }

private:
  static bool isForward(nn::ResultAttr result) {
    return !result || result.getKind() == ResultKind::output ||
           (result.getKind() == ResultKind::metric && result.getName() == "loss");
  }
  static void add(Value value, llvm::DenseSet<Operation *> &forward,
                  std::vector<Operation *> &todo) {
    if (Operation *op = value.getDefiningOp(); op && forward.insert(op).second)
      todo.push_back(op);
  }
  /// Whether another node, the loss or the return of the function reads the result of `op`.
  static bool isRead(Operation &op, const llvm::DenseSet<Operation *> &forward) {
    return llvm::any_of(op.getResult(0).getUsers(), [&](Operation *user) {
      return forward.contains(user) &&
             (isOfLoss(user->getLoc()) || onlyNodeOf(user->getLoc()) != onlyNodeOf(op.getLoc()));
    });
  }
  /// Offers `value` as the value of `node`. A node may become several ops, for example if it
  /// broadcasts an operand, so several values may leave the node. The largest of them is the
  /// value of the node; of equally large ones, the first.
  void offer(StringRef node, Value value) {
    auto [known, isNew] = values.insert({node, value});
    if (!isNew && nn::typeOf(value).getNumElements() > nn::typeOf(known->second).getNumElements())
      known->second = value;
  }

  llvm::MapVector<StringRef, Value> values;
};

struct AnnotateLayoutsPass : dpc::impl::AnnotateLayoutsBase<AnnotateLayoutsPass> {
  using AnnotateLayoutsBase::AnnotateLayoutsBase;

  void runOnOperation() override {
    for (const std::string &text : specs)
      if (failed(parse(text, /*isGlob=*/false)))
        return signalPassFailure();
    for (const std::string &text : shards)
      if (failed(parse(text, /*isGlob=*/true)))
        return signalPassFailure();
    const nn::VariableNames variables(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (failed(annotate(function, i, variables)))
          return signalPassFailure();
    // A glob that matches an argument of a function (state or an input) is not matched against
    // nodes, because the names of nodes are often similar to those of tensors.
    SmallVector<Request *> left;
    for (Request &request : requests)
      if (!request.used)
        left.push_back(&request);
    if (!left.empty())
      for (auto function : getOperation().getOps<func::FuncOp>())
        if (failed(annotateNodes(function, left)))
          return signalPassFailure();
    for (const Request &request : requests)
      if (!request.used && request.glob) {
        getOperation().emitError("shard ")
            << request.pattern
            << " names no parameter, buffer or input, and no node whose value is left "
               "(what is folded or fused has none)";
        return signalPassFailure();
      }
  }

private:
  /// Parses GLOB=ENTRY;ENTRY.., where an entry is `-` or AXIS+AXIS... Without `isGlob`, also
  /// parses NAME=LAYOUT.
  LogicalResult parse(StringRef text, bool isGlob) {
    auto [pattern, entries] = text.rsplit('=');
    Request request;
    request.pattern = pattern.str();
    if (isGlob) {
      llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
      if (!glob)
        return getOperation().emitError("shard '")
               << pattern << "': " << llvm::toString(glob.takeError());
      request.glob = std::move(*glob);
    } else if (entries.starts_with("[")) {
      llvm::Expected<Layout> layout = parseLayout(entries);
      if (!layout)
        return getOperation().emitError("spec of '")
               << pattern << "': " << llvm::toString(layout.takeError());
      for (const DimLayout &dim : layout->dims)
        request.dims.push_back(shardedAxes(dim));
      request.layout = std::move(*layout);
      requests.push_back(std::move(request));
      return success();
    }
    SmallVector<StringRef> dims;
    if (!entries.empty() || isGlob)
      entries.split(dims, ';');
    for (StringRef entry : dims) {
      AxisNames axes;
      SmallVector<StringRef> names;
      if (entry != "-")
        entry.split(names, '+');
      for (StringRef name : names) {
        if (!isAxisName(name))
          return getOperation().emitError("shard ")
                 << pattern << ": '" << entry << "' is neither - nor AXIS+AXIS..";
        axes.push_back(name.str());
      }
      request.dims.push_back(axes);
    }
    requests.push_back(std::move(request));
    return success();
  }

  /// Returns the request of `among` that applies to a name or node; null if none matches. An
  /// exact name wins over any glob, and both win over a request of the model file. Among
  /// several globs the last one wins. Marks every request that matches as used.
  static Request *find(ArrayRef<Request *> among, llvm::function_ref<bool(StringRef)> isSpelled,
                       llvm::function_ref<bool(const llvm::GlobPattern &)> matches) {
    Request *filed = nullptr, *exact = nullptr, *last = nullptr;
    for (Request *request : among) {
      bool isExact = isSpelled(request->pattern);
      if (!isExact && !(request->glob && matches(*request->glob)))
        continue;
      request->used = true;
      (!request->glob ? filed : isExact ? exact : last) = request;
    }
    return exact ? exact : last ? last : filed;
  }

  LogicalResult checkRank(Operation *where, const Request &request, StringRef name, Type type) {
    const int64_t rank = cast<RankedTensorType>(type).getRank();
    if (int64_t(request.dims.size()) == rank)
      return success();
    return where->emitError("shard ")
           << request.pattern << " has " << request.dims.size() << " entries, but " << name
           << " has " << rank << " dimensions";
  }

  LogicalResult annotate(func::FuncOp function, unsigned index,
                         const nn::VariableNames &variables) {
    ArgAttr arg = nn::getArg(function, index);
    if (!arg || arg.getKind() == ArgKind::control)
      return success();
    SmallVector<Request *> all;
    for (Request &request : requests)
      all.push_back(&request);
    // Optimizer state, SLOT|NAME, is laid out like the parameter NAME.
    const bool follows = arg.getKind() == ArgKind::optimizer;
    StringRef name = arg.getName();
    if (follows)
      name = name.split('|').second;
    Request *request = find(
        all, [&](StringRef text) { return variables.isSpelled(name, text); },
        [&](const llvm::GlobPattern &glob) { return variables.matches(name, glob); });
    if (!request)
      return success();
    auto type = cast<RankedTensorType>(function.getArgument(index).getType());
    if (follows && int64_t(request->dims.size()) != type.getRank())
      return success();
    if (failed(checkRank(function, *request, name, type)))
      return failure();
    if (request->layout && nn::isState(arg.getKind()))
      function.setArgAttr(index, DistDialect::kLayoutAttrName,
                          LayoutAttr::get(&getContext(), *request->layout));
    else
      function.setArgAttr(index, DistDialect::kRequestAttrName,
                          requestAttr(&getContext(), request->dims));
    return success();
  }

  LogicalResult annotateNodes(func::FuncOp function, ArrayRef<Request *> among) {
    const NodeValues nodes(function);
    for (auto [name, value] : nodes.get()) {
      StringRef node = name;
      Request *request = find(
          among, [&](StringRef text) { return node == text; },
          [&](const llvm::GlobPattern &glob) { return glob.match(node); });
      if (!request)
        continue;
      if (failed(checkRank(value.getDefiningOp(), *request, node, value.getType())))
        return failure();
      value.getDefiningOp()->setAttr(DistDialect::kRequestAttrName,
                                     requestAttr(&getContext(), request->dims));
    }
    return success();
  }

  std::vector<Request> requests;
};

} // namespace

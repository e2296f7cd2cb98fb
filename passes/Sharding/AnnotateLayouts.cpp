// Writes the layouts that the user asked for on the arguments that their globs
// name.

#include "passes/Sharding/Passes.h"

#include "dialects/Dist/IR/DistDialect.h"
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

namespace {

/// One request: what it matches, and the axes that cut each dimension.
struct Request {
  std::string pattern;
  llvm::GlobPattern glob;
  SmallVector<AxisNames> dims;
  bool used = false;
};

struct AnnotateLayoutsPass : dpc::impl::AnnotateLayoutsBase<AnnotateLayoutsPass> {
  using AnnotateLayoutsBase::AnnotateLayoutsBase;

  void runOnOperation() override {
    for (const std::string &text : shards)
      if (failed(parse(text)))
        return signalPassFailure();
    const nn::VariableNames variables(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>())
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (failed(annotate(function, i, variables)))
          return signalPassFailure();
    for (const Request &request : requests)
      if (!request.used) {
        getOperation().emitError("shard ") << request.pattern << " names no parameter or buffer";
        return signalPassFailure();
      }
  }

private:
  /// GLOB=ENTRY;ENTRY.., an entry `-` or AXIS+AXIS...
  LogicalResult parse(StringRef text) {
    auto [pattern, entries] = text.rsplit('=');
    llvm::Expected<llvm::GlobPattern> glob = llvm::GlobPattern::create(pattern);
    if (!glob)
      return getOperation().emitError("shard '")
             << pattern << "': " << llvm::toString(glob.takeError());
    Request request{pattern.str(), std::move(*glob), {}};
    SmallVector<StringRef> dims;
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

  /// The last request that matches, an exact name before any glob.
  Request *find(StringRef name, const nn::VariableNames &variables) {
    Request *exact = nullptr, *last = nullptr;
    for (Request &request : requests) {
      bool isExact = variables.isSpelled(name, request.pattern);
      if (!isExact && !variables.matches(name, request.glob))
        continue;
      request.used = true;
      (isExact ? exact : last) = &request;
    }
    return exact ? exact : last;
  }

  LogicalResult annotate(func::FuncOp function, unsigned index,
                         const nn::VariableNames &variables) {
    ArgAttr arg = nn::getArg(function, index);
    if (!arg || (arg.getKind() != ArgKind::parameter && arg.getKind() != ArgKind::buffer &&
                 arg.getKind() != ArgKind::constant))
      return success();
    Request *request = find(arg.getName(), variables);
    if (!request)
      return success();
    auto type = cast<RankedTensorType>(function.getArgument(index).getType());
    if (int64_t(request->dims.size()) != type.getRank())
      return function.emitError("shard ")
             << request->pattern << " has " << request->dims.size() << " entries, but "
             << arg.getName() << " has " << type.getRank() << " dimensions";
    Layout layout = Layout::replicated(type.getShape());
    for (auto [dim, axes] : llvm::zip_equal(layout.dims, request->dims))
      dim.segments[0].factors[0].axes = axes;
    function.setArgAttr(index, DistDialect::kLayoutAttrName,
                        LayoutAttr::get(&getContext(), layout));
    return success();
  }

  SmallVector<Request> requests;
};

} // namespace

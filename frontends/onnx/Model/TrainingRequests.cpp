// Compiles --trainable and --frozen requests, judges each initializer by them, and
// finds requests that match none.

#include "frontends/onnx/Model/TrainingRequests.h"

#include "frontends/onnx/Model/Failure.h"

#include "llvm/ADT/STLExtras.h"

namespace dpc::onnx {

bool TrainingRequests::Compiled::spells(const Initializer &initializer) const {
  return initializer.name == request.pattern ||
         llvm::is_contained(initializer.aliases, request.pattern);
}

bool TrainingRequests::Compiled::matches(const Initializer &initializer) const {
  return spells(initializer) || glob.match(initializer.name) ||
         llvm::any_of(initializer.aliases,
                      [&](const std::string &alias) { return glob.match(alias); });
}

bool TrainingRequests::names(const Compiled &compiled, const Initializer &initializer,
                             bool trainsByDefault) const {
  if (compiled.request.train && !trainsByDefault)
    return compiled.spells(initializer);
  return compiled.matches(initializer);
}

llvm::Expected<TrainingRequests>
TrainingRequests::create(const Graph &graph, llvm::ArrayRef<TrainingRequest> requests) {
  TrainingRequests result;
  for (const TrainingRequest &request : requests) {
    auto glob = llvm::GlobPattern::create(request.pattern);
    if (!glob) {
      llvm::consumeError(glob.takeError());
      return fail(llvm::formatv("{0}: not a valid pattern", request.text()));
    }
    Compiled compiled{request, std::move(*glob)};
    if (llvm::none_of(graph.initializers, [&](const Initializer &initializer) {
          return compiled.matches(initializer);
        }))
      return fail(llvm::formatv("{0}: no initializer has this name", request.text()));
    for (const Initializer &initializer : graph.initializers)
      if (request.train && compiled.spells(initializer) && !isFloat(initializer.tensor.type))
        return fail(llvm::formatv("{0}: is not a float tensor", request.text()));
    result.startsFromNone |= request.train;
    result.requests.push_back(std::move(compiled));
  }
  return std::move(result);
}

TrainingRequests::Verdict TrainingRequests::judge(const Initializer &initializer,
                                                  bool trainsByDefault) const {
  for (const Compiled &compiled : llvm::reverse(requests))
    if (names(compiled, initializer, trainsByDefault))
      return compiled.request.train ? Verdict::trains : Verdict::frozen;
  return startsFromNone && trainsByDefault ? Verdict::leftOut : Verdict::byDefault;
}

llvm::Error TrainingRequests::checkUsed(const Graph &graph,
                                        const std::vector<bool> &trainsByDefault) const {
  for (const Compiled &compiled : requests) {
    bool used = false;
    const Initializer *matched = nullptr;
    for (auto [initializer, trains] : llvm::zip_equal(graph.initializers, trainsByDefault)) {
      used |= names(compiled, initializer, trains);
      if (!matched && compiled.matches(initializer))
        matched = &initializer;
    }
    if (!used)
      return fail(llvm::formatv("{0}: matches only tensors that do not train by default, such as "
                                "'{1}' (--explain=all says why); --trainable={1} trains it",
                                compiled.request.text(), matched->name));
  }
  return llvm::Error::success();
}

} // namespace dpc::onnx

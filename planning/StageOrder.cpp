#include "planning/StageOrder.h"

#include "planning/PlanError.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;
using namespace dpc;

static constexpr StringLiteral kLetters = "rsvw";

std::string StageOrder::toString() const {
  std::string text;
  for (const StageStep &step : steps)
    text += (text.empty() ? "" : " ") + std::string(1, kLetters[step.kind]) +
            std::to_string(step.index) + "." + std::to_string(step.microbatch);
  return text;
}

Expected<StageOrder> StageOrder::parse(StringRef text) {
  StageOrder order;
  SmallVector<StringRef> words;
  text.split(words, ' ', -1, /*KeepEmpty=*/false);
  for (StringRef word : words) {
    StageStep step;
    auto [index, microbatch] = word.drop_front().split('.');
    const size_t kind = kLetters.find(word.front());
    if (kind == StringRef::npos || index.getAsInteger(10, step.index) ||
        microbatch.getAsInteger(10, step.microbatch) || step.index < 0 || step.microbatch < 0)
      return planError("'{0}' is no step of a stage", word);
    step.kind = StageStep::Kind(kind);
    order.steps.push_back(step);
  }
  return order;
}

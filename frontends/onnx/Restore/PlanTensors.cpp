// Plans the tensors to restore, after all operands are identified.

#include "frontends/onnx/Restore/MetadataFinder.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::StringRef;

namespace dpc::onnx {

void MetadataFinder::lose(StringRef target, const Initializer &initializer) {
  if (!lostNames.insert((target + "|" + initializer.name).str()).second)
    return;
  plan.lost.push_back(
      llvm::formatv("parameter '{0}' is not in the file: the export computed '{1}' from it, "
                    "and the file does not say how; torch.onnx.export(..., optimize=False) "
                    "keeps it",
                    target, initializer.name));
}

/// The steps from a restored tensor to an operand. In some cases the exporter's metadata
/// about the call that reads the operand gives the steps (`isMovedView`, `invert`).
/// Otherwise the operand is compared with `value`, the value of the restored tensor, and
/// with each operand in `known`, whose steps are known.
std::optional<Derivation>
MetadataFinder::stepsTo(const Identified &found, const Tensor &value,
                        const std::map<const Initializer *, Derivation> &known) const {
  const Initializer &initializer = *found.at.initializer;
  if (isMovedView(found)) {
    Derivation exchange(1);
    exchange[0].kind = DerivationStep::Kind::Transpose;
    exchange[0].dims = {1, 0};
    return exchange;
  }
  if (auto same = known.find(&initializer); same != known.end())
    return same->second;
  if (std::optional<Undone> own = invert(found);
      own && own->doubt == Doubt::None && isSame(own->derived.parameter, value))
    return own->derived.steps;
  if (std::optional<Derivation> steps = findDerivation(value, initializer.tensor))
    return steps;
  for (const auto &[other, steps] : known)
    if (std::optional<Derivation> more = findDerivation(other->tensor, initializer.tensor)) {
      Derivation all = steps;
      all.insert(all.end(), more->begin(), more->end());
      return all;
    }
  return std::nullopt;
}

void MetadataFinder::planTensor(StringRef target, llvm::ArrayRef<Identified> found) {
  const SignatureEntry *entry = signature.findTarget(target);
  const Initializer *own = inFile(target);
  bool isWhole = own && llvm::all_of(found, [&](const Identified &each) {
                   return each.at.initializer == own && !isMovedView(each);
                 });
  bool hasDropped =
      llvm::any_of(dropped, [&](const DroppedBias &each) { return each.target == target; });
  if (isWhole && !hasDropped)
    return;
  RestoredTensor tensor;
  tensor.name = target.str();
  tensor.kind = kindOf(*entry);
  tensor.isInFile = own != nullptr;
  std::map<const Initializer *, Derivation> steps;
  Doubt doubt = Doubt::None;
  if (own) {
    tensor.value = own->tensor;
    steps[own] = {};
  } else if (found.empty()) {
    for (const DroppedBias &each : dropped)
      if (each.target == target)
        tensor.value = makeTensor(each.type, {each.extent},
                                  std::vector<char>(each.extent * elementBytes(each.type), 0));
  } else {
    // Prefer the use that leaves the least doubt about the tensor's elements. A use of the
    // tensor itself tells more than a use of a value computed from the tensor.
    std::optional<Undone> best;
    const Identified *first = nullptr;
    for (bool isArgument : {true, false})
      for (const Identified &each : found) {
        if (each.isArgument != isArgument || (best && best->doubt == Doubt::None))
          continue;
        std::optional<Undone> undone = invert(each);
        if (undone && (!best || undone->doubt < best->doubt)) {
          best = std::move(undone);
          first = &each;
        }
      }
    if (!best)
      return lose(target, *found.front().at.initializer);
    tensor.value = std::move(best->derived.parameter);
    if (!isMovedView(*first))
      steps[first->at.initializer] = std::move(best->derived.steps);
    doubt = best->doubt;
  }
  std::vector<RestoredUse> uses;
  for (const Identified &each : found) {
    const Initializer *initializer = each.at.initializer;
    std::optional<Derivation> way = stepsTo(each, tensor.value, steps);
    if (!way)
      return lose(target, *initializer);
    if (!isMovedView(each))
      steps.emplace(initializer, *way);
    if (initializer != own || !way->empty())
      uses.push_back({each.at.node, each.at.operand, initializer->value, plan.tensors.size(),
                      std::move(*way)});
    if (initializer != own && !signature.findTarget(initializer->name) &&
        !llvm::is_contained(tensor.aliases, initializer->name))
      tensor.aliases.push_back(initializer->name);
  }
  for (const DroppedBias &each : dropped)
    if (each.target == target &&
        llvm::ArrayRef<int64_t>(tensor.value.shape) == llvm::ArrayRef<int64_t>(each.extent))
      uses.push_back({each.node, 2, kNoValue, plan.tensors.size(), {}});
  if (uses.empty())
    return;
  if (doubt != Doubt::None)
    plan.doubts.push_back({tensor.name, doubt});
  plan.tensors.push_back(std::move(tensor));
  plan.uses.insert(plan.uses.end(), uses.begin(), uses.end());
}

/// Plans a constant for each operand that has the same value as a parameter but is not
/// this parameter. The constant is a copy of the value, and is not trained.
void MetadataFinder::planConstants() {
  std::map<const Initializer *, size_t> copies;
  for (const Operand &at : constants) {
    auto [found, isNew] = copies.try_emplace(at.initializer, plan.tensors.size());
    if (isNew) {
      RestoredTensor copy;
      copy.name = at.initializer->name + "/constant";
      copy.kind = TensorKind::Constant;
      copy.value = at.initializer->tensor;
      plan.tensors.push_back(std::move(copy));
    }
    plan.uses.push_back({at.node, at.operand, at.initializer->value, found->second, {}});
  }
}

} // namespace dpc::onnx

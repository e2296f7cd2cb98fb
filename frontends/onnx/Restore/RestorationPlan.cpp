// Makes, checks and prints the plan that restores the parameters of the module.

#include "frontends/onnx/Restore/RestorationPlan.h"

#include "frontends/onnx/Model/ExporterMetadata.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <set>

using llvm::StringRef;

namespace dpc::onnx {
namespace {

llvm::Error failRestoring(const llvm::formatv_object_base &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 "restoring parameters: " + message.str());
}

bool isZero(const Tensor &tensor) {
  return llvm::all_of(tensor.bytes, [](char byte) { return byte == 0; });
}

/// The form in which the file has `tensor`: e.g. "transposed 'val_3'" or "gates of 'w'".
std::string inTheFile(const Graph &graph, const RestorationPlan &plan, size_t tensor) {
  std::vector<std::string> parts;
  for (const RestoredUse &use : plan.uses) {
    if (use.tensor != tensor)
      continue;
    std::string part = "dropped, being zero";
    if (use.was != kNoValue) {
      std::string how = describe(use.steps);
      part = (how.empty() ? "" : how + " ") + ("'" + graph.values[use.was].name) + "'";
    }
    if (!llvm::is_contained(parts, part))
      parts.push_back(part);
  }
  for (const JoinedUse &use : plan.joinedUses)
    if (llvm::is_contained(use.tensors, tensor))
      parts.push_back((use.gates.size() > 1 ? "gates of '" : "rows of '") +
                      graph.values[use.was].name + "'");
  for (const RestoredNode &copy : plan.nodes)
    for (auto [operand, position] : copy.operands)
      if (position == tensor)
        parts.push_back("merged with all of " + describe(graph.nodes[copy.node]));
  return llvm::join(parts, "; ");
}

} // namespace

std::optional<Tensor> join(const RestorationPlan &plan, const JoinedUse &use,
                           llvm::ArrayRef<int64_t> shape) {
  std::vector<char> bytes;
  for (size_t position : use.tensors) {
    const Tensor &tensor = plan.tensors[position].value;
    if (tensor.shape.empty() || tensor.shape[0] % int64_t(use.gates.size()) != 0)
      return std::nullopt;
    size_t block = tensor.bytes.size() / use.gates.size();
    for (int64_t gate : use.gates)
      bytes.insert(bytes.end(), tensor.bytes.begin() + gate * block,
                   tensor.bytes.begin() + (gate + 1) * block);
  }
  ElementType type = plan.tensors[use.tensors.front()].value.type;
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  if (size_t(elements) * elementBytes(type) != bytes.size())
    return std::nullopt;
  return makeTensor(type, shape, std::move(bytes));
}

llvm::Error RestorationPlan::check(const Graph &graph) const {
  llvm::StringSet<> names, values;
  for (const GraphValue &value : graph.values)
    values.insert(value.name);
  for (const RestoredTensor &tensor : tensors) {
    if (!names.insert(tensor.name).second)
      return failRestoring(llvm::formatv("'{0}' is planned twice", tensor.name));
    if (!tensor.isInFile && values.contains(tensor.name) &&
        llvm::none_of(graph.initializers, [&](const Initializer &each) {
          return llvm::is_contained(each.aliases, tensor.name);
        }))
      return failRestoring(llvm::formatv("'{0}' is another value's name", tensor.name));
  }
  std::set<std::pair<int32_t, int32_t>> planned;
  for (const RestoredUse &use : uses) {
    if (use.tensor >= tensors.size() || use.node < 0 || use.node >= int32_t(graph.nodes.size()))
      return failRestoring(llvm::formatv("a use is of no node or tensor"));
    const Node &node = graph.nodes[use.node];
    if (!node.callers.empty() || use.operand < 0 || node.input(use.operand) != use.was ||
        (use.was != kNoValue && !graph.initializerOf(use.was)) ||
        !planned.insert({use.node, use.operand}).second)
      return failRestoring(llvm::formatv("input {0} of {1} cannot be '{2}'", use.operand,
                                         describe(node), tensors[use.tensor].name));
  }
  for (const JoinedUse &use : joinedUses)
    if (use.node < 0 || use.node >= int32_t(graph.nodes.size()) ||
        !graph.nodes[use.node].callers.empty() || use.tensors.empty() ||
        graph.nodes[use.node].input(use.operand) != use.was || !graph.initializerOf(use.was) ||
        llvm::any_of(
            use.tensors, [&](size_t tensor) { return tensor >= tensors.size(); }) ||
        !planned.insert({use.node, use.operand}).second)
      return failRestoring(llvm::formatv("a joined operand does not fit the graph"));
  for (const RestoredNode &copy : nodes) {
    bool fits = copy.node >= 0 && copy.node < int32_t(graph.nodes.size());
    for (auto [operand, tensor] : copy.operands)
      fits = fits && tensor < tensors.size() &&
             graph.initializerOf(graph.nodes[copy.node].input(operand));
    for (auto [node, operand] : copy.takers)
      fits = fits && node > copy.node && node < int32_t(graph.nodes.size()) &&
             graph.nodes[node].input(operand) == graph.nodes[copy.node].output(0) &&
             planned.insert({node, operand}).second;
    if (!fits)
      return failRestoring(llvm::formatv("a copied node does not fit the graph"));
  }
  for (const FlaggedLookup &lookup : flaggedLookups)
    if (lookup.node < 0 || lookup.node >= int32_t(graph.nodes.size()) ||
        !graph.nodes[lookup.node].is("Gather"))
      return failRestoring(llvm::formatv("the flags of node {0} are of no lookup", lookup.node));
  std::set<std::pair<int32_t, int32_t>> detached;
  for (const DetachedUse &use : detachedUses)
    if (use.node < 0 || use.node >= int32_t(graph.nodes.size()) ||
        !graph.nodes[use.node].callers.empty() ||
        graph.nodes[use.node].input(use.operand) == kNoValue ||
        !detached.insert({use.node, use.operand}).second)
      return failRestoring(llvm::formatv("'{0}' is of no operand", use.name));
  for (const DetachedOutput &output : detachedOutputs)
    if (output.output >= graph.outputs.size())
      return failRestoring(llvm::formatv("'{0}' is of no output", output.name));
  return llvm::Error::success();
}

llvm::Error RestorationPlan::verify(const Graph &graph) const {
  for (const RestoredUse &use : uses) {
    const RestoredTensor &tensor = tensors[use.tensor];
    std::optional<Tensor> made = derive(tensor.value, use.steps);
    const Initializer *was = graph.initializerOf(use.was);
    if (!made || (was ? !isSame(*made, was->tensor) : !isZero(*made)))
      return failRestoring(llvm::formatv("'{0}' does not give what {1} has as input {2}",
                                         tensor.name, describe(graph.nodes[use.node]),
                                         use.operand));
  }
  for (const JoinedUse &use : joinedUses) {
    const Tensor &was = graph.initializerOf(use.was)->tensor;
    std::optional<Tensor> made = join(*this, use, was.shape);
    if (!made || !isSame(*made, was))
      return failRestoring(llvm::formatv("'{0}' does not give what {1} has as input {2}",
                                         tensors[use.tensors.front()].name,
                                         describe(graph.nodes[use.node]), use.operand));
  }
  for (const RestoredNode &copy : nodes)
    for (auto [operand, tensor] : copy.operands)
      if (!isSame(tensors[tensor].value,
                  graph.initializerOf(graph.nodes[copy.node].input(operand))->tensor))
        return failRestoring(llvm::formatv("'{0}' is not what {1} has as input {2}",
                                           tensors[tensor].name, describe(graph.nodes[copy.node]),
                                           operand));
  return llvm::Error::success();
}

std::vector<std::array<std::string, 4>> RestorationPlan::rows(const Graph &graph) const {
  std::vector<std::array<std::string, 4>> made;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    size_t count =
        llvm::count_if(uses, [i = i](const RestoredUse &use) { return use.tensor == i; }) +
        llvm::count_if(joinedUses, [i = i](const JoinedUse &use) {
          return llvm::is_contained(use.tensors, i);
        });
    made.push_back(
        {tensor.name, typeText(tensor.value), std::to_string(count), inTheFile(graph, *this, i)});
  }
  for (const FlaggedLookup &lookup : flaggedLookups) {
    const Node &node = graph.nodes[lookup.node];
    const Initializer *table = graph.initializerOf(node.input(0));
    auto use = llvm::find_if(uses, [&](const RestoredUse &each) {
      return each.node == lookup.node && each.operand == 0;
    });
    auto add = [&](const std::string &instead) {
      made.push_back(
          {use != uses.end() ? tensors[use->tensor].name : graph.values[node.input(0)].name,
           table ? typeText(table->tensor) : "", "1", instead});
    };
    if (lookup.paddingRow >= 0)
      add(llvm::formatv("row {0} trained (padding_idx)", lookup.paddingRow));
    if (lookup.isScaledByCounts)
      add("gradients not divided by counts (scale_grad_by_freq)");
  }
  return made;
}

void RestorationPlan::print(const Graph &graph, llvm::raw_ostream &os) const {
  const auto lines = rows(graph);
  if (lines.empty())
    return;
  size_t width = 8;
  for (const auto &line : lines)
    width = std::max(width, line[0].size());
  auto print = [&](StringRef name, StringRef type, StringRef uses, StringRef instead) {
    os << llvm::left_justify(name, width) << "  " << llvm::left_justify(type, 22) << "  "
       << llvm::left_justify(uses, 4) << "  " << instead << '\n';
  };
  print("restored", "type", "uses", "in the file");
  for (const auto &[name, type, uses, instead] : lines)
    print(name, type, uses, instead);
}

std::string RestorationPlan::summary(const Graph &graph) const {
  // A tensor counts once, under its most important change.
  std::map<ValueId, std::set<size_t>> standsFor;
  for (const RestoredUse &use : uses)
    if (use.was != kNoValue)
      standsFor[use.was].insert(use.tensor);
  size_t tied = 0, split = 0, cut = 0, computed = 0, renamed = 0, added = 0;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    bool isSplit = false, isComputed = false, isDropped = false;
    for (const RestoredUse &use : uses) {
      if (use.tensor != i)
        continue;
      isDropped |= use.was == kNoValue;
      const Initializer *was = graph.initializerOf(use.was);
      isSplit |=
          was &&
          (standsFor[use.was].size() > 1 ||
           graph.values[use.was].uses.size() >
               size_t(llvm::count_if(uses, [&](const auto &each) { return each.was == use.was; })));
      isComputed |= llvm::any_of(use.steps, [](const DerivationStep &step) {
        return step.kind != DerivationStep::Kind::Transpose &&
               step.kind != DerivationStep::Kind::Reshape;
      });
    }
    bool isJoined = llvm::any_of(
        joinedUses, [i = i](const JoinedUse &use) { return llvm::is_contained(use.tensors, i); });
    if (isJoined)
      ++cut;
    else if (tensor.isInFile && !isDropped)
      ++tied;
    else if (isSplit)
      ++split;
    else if (isComputed)
      ++computed;
    else if (isDropped)
      ++added;
    else
      ++renamed;
  }
  std::vector<std::string> parts;
  auto add = [&](size_t count, StringRef what) {
    if (count)
      parts.push_back(std::to_string(count) + " " + what.str());
  };
  add(tied, "tied again");
  add(split, "split from equal ones");
  add(cut, "cut out of joined ones");
  add(computed, "behind what was computed from them");
  add(added, "dropped because they were zero");
  add(renamed, "under their own names");
  auto count = [&](auto has) { return size_t(llvm::count_if(flaggedLookups, has)); };
  add(count([](const FlaggedLookup &each) { return each.paddingRow >= 0; }),
      "padding rows without gradient");
  add(count([](const FlaggedLookup &each) { return each.isScaledByCounts; }),
      "lookups with gradients divided by counts");
  return llvm::join(parts, ", ");
}

std::string RestorationPlan::detachedSummary() const {
  std::set<std::string> names;
  for (const DetachedUse &use : detachedUses)
    names.insert(use.name);
  for (const DetachedOutput &output : detachedOutputs)
    names.insert(output.name);
  if (names.empty())
    return {};
  constexpr size_t shown = 3;
  std::vector<std::string> first(names.begin(),
                                 std::next(names.begin(), std::min(names.size(), shown)));
  return llvm::formatv("{0} value{1} that the module does not differentiate ({2}{3})", names.size(),
                       names.size() > 1 ? "s" : "", llvm::join(first, ", "),
                       names.size() > shown ? ", .." : "");
}

std::vector<std::string> RestorationPlan::reorderedTables() const {
  std::vector<std::string> names;
  for (auto [index, tensor] : llvm::enumerate(tensors))
    if (llvm::any_of(uses, [&, index = index](const RestoredUse &use) {
          return use.tensor == index && llvm::any_of(use.steps, [](const DerivationStep &step) {
                   return step.kind == DerivationStep::Kind::Gather;
                 });
        }))
      names.push_back(tensor.name);
  return names;
}

std::vector<std::string> RestorationPlan::doubtLines() const {
  constexpr StringRef keeps = "torch.onnx.export(..., optimize=False) keeps it";
  std::vector<std::string> lines;
  for (Doubt doubt : {Doubt::Order, Doubt::Shape, Doubt::Part}) {
    std::string first;
    size_t count = 0;
    for (const auto &[name, each] : doubts)
      if (each == doubt && ++count == 1)
        first = "'" + name + "'";
    if (!count)
      continue;
    if (count > 1)
      first += " and " + std::to_string(count - 1) + " more";
    if (doubt == Doubt::Order)
      lines.push_back(
          llvm::formatv("the file does not tell the orientation of {0}, whose dimensions "
                        "the module permutes: what is saved of it need not be the "
                        "module's; {1}",
                        first, keeps));
    else if (doubt == Doubt::Shape)
      lines.push_back(
          llvm::formatv("the file does not tell the shape of {0}, which the module "
                        "reshapes or repeats: what is saved of it has the module's elements, and "
                        "maybe another shape; {1}",
                        first, keeps));
    else
      lines.push_back(llvm::formatv("the file does not tell the extent of {0}, of which the module "
                                    "reads a slice: what is saved of it is that slice; {1}",
                                    first, keeps));
  }
  return lines;
}

RestorationPlan planRestoration(const Graph &graph) {
  switch (exporterOf(graph)) {
  case Exporter::Dynamo:
    return graphSignature(graph).empty() ? RestorationPlan() : planByMetadata(graph);
  case Exporter::TorchScript:
    return planByNames(graph);
  case Exporter::Other:
    return {};
  }
  return {};
}

} // namespace dpc::onnx

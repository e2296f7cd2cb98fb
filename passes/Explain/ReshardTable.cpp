// Collects the reshards of a step: the bytes that each reshard sends, its cause, and the options
// that would avoid it. The corresponding reshards of repeated layers share one row.

#include "passes/Explain/ReshardTable.h"

#include "passes/Explain/Names.h"
#include "passes/Explain/ReshardCause.h"
#include "passes/Sharding/Partition/LoopSchedule.h"
#include "passes/Sharding/Partition/LowerReshard.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/MeshGroups.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// Returns the name of the collective and its axes, e.g. "all-gather data+model".
static std::string textOf(const ReshardStep &step) {
  std::string kind = toString(step.kind).str();
  std::replace(kind.begin(), kind.end(), '_', '-');
  return kind + " " + llvm::join(step.axes, "+");
}

/// Returns the name of the first reader of the result in program order. If there are more readers,
/// ", .." follows.
static std::string readersOf(ReshardOp reshard, const StepParts &parts) {
  SmallVector<Operation *> users(reshard->getUsers());
  llvm::sort(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  std::string text = users.front()->hasTrait<OpTrait::IsTerminator>()
                         ? "the program's end"
                         : parts.describe(users.front());
  return users.front() == users.back() ? text : text + ", ..";
}

namespace {

/// Builds the table. Reshards that differ only in the numbers in their names share one row.
class TableBuilder {
public:
  TableBuilder(func::FuncOp function, const MeshShape &mesh, const MeshPrices &meshPrices)
      : mesh(mesh), meshPrices(meshPrices), micro(mesh), schedule(function, micro), parts(function),
        causes(parts, mesh) {
    if (auto cost = function->getAttrOfType<CostAttr>(DistDialect::kCostAttrName)) {
      table.computing = 1e-9 * cost.getComputing();
      table.moving = 1e-9 * cost.getMoving();
      table.sent = cost.getSent();
    }
    table.function = function.getName().str();
    for (auto reshard : function.front().getOps<ReshardOp>())
      add(reshard);
  }

  ReshardTable take() {
    for (size_t i = 0; i < table.rows.size(); ++i) {
      ReshardRow &row = table.rows[i];
      for (auto [field, names] : {std::pair(&row.value, &members[i].values),
                                  {&row.reader, &members[i].readers},
                                  {&row.cause, &members[i].causes},
                                  {&row.request, &members[i].requests}})
        *field = commonPattern(*names);
    }
    // The sort is stable, so rows with equal costs stay in program order.
    llvm::stable_sort(table.rows, [](const ReshardRow &a, const ReshardRow &b) {
      return std::pair(a.bytes, a.seconds) > std::pair(b.bytes, b.seconds);
    });
    return std::move(table);
  }

private:
  /// The texts of all reshards of a row. take() makes one pattern per column from them.
  struct Members {
    std::vector<std::string> values, readers, causes, requests;
  };

  void add(ReshardOp reshard) {
    if (reshard->use_empty())
      return;
    const bool inside = schedule.inLoop(reshard);
    auto own = [&](const Layout &layout) {
      return inside ? micro.insideOf(layout) : micro.outsideOf(layout);
    };
    std::vector<Layout> sources = {reshard.getFrom().getLayout()};
    for (ReshardOp other : schedule.madeBefore(reshard))
      sources.push_back(other.getTo().getLayout());
    std::vector<Layout> local;
    for (const Layout &source : sources)
      local.push_back(own(source));
    const Layout to = own(reshard.getTo().getLayout());
    const int64_t elementBytes =
        tensorBytes(nn::withShape(cast<RankedTensorType>(reshard.getType()), {}));
    llvm::Expected<NearestPlan> best = planFromNearest(local, to, mesh, meshPrices, elementBytes);
    if (!best) // dpc-partition reports this error
      return llvm::consumeError(best.takeError());
    if (best->plan.bytes == 0) {
      ++table.local;
      return;
    }
    const ReshardProblem problem{local[best->source], to, mesh, meshPrices, elementBytes};
    const bool becomesGradient = parts.isGradient(reshard, /*summed=*/true);
    const double turns = inside ? micro.getCount() : 1;
    ReshardRow gradients, row;
    for (auto [i, step] : llvm::enumerate(best->plan.steps)) {
      const Price cost = costOf(best->plan.getBefore(i), step, problem);
      const bool isOverSamples =
          llvm::all_of(step.axes, [&](StringRef axis) { return parts.cutsBatch(axis); });
      ReshardRow &part = becomesGradient && isOverSamples ? gradients : row;
      part.bytes += turns * cost.bytes;
      part.seconds += turns * cost.seconds;
      part.steps += (part.steps.empty() ? "" : ", ") + textOf(step);
    }
    accumulate(gradients, table.gradients);
    if (row.bytes > 0)
      accumulate(row, rowOf(reshard, sources[best->source], toString(best->plan.start), row.steps));
  }

  static void accumulate(const ReshardRow &part, ReshardRow &all) {
    all.count += part.bytes > 0;
    all.bytes += part.bytes;
    all.seconds += part.seconds;
  }

  /// Returns the row of `reshard`, which starts from layout `start`. Adds the row if it is new.
  ReshardRow &rowOf(ReshardOp reshard, const Layout &start, StringRef startText, StringRef steps) {
    ReshardCause cause = causes.find(reshard, start);
    ReshardRow row;
    row.pass = parts.nameOf(reshard).str();
    row.steps = steps.str();
    row.value = parts.describe(reshard.getInput());
    row.reader = readersOf(reshard, parts);
    std::string type, layouts = startText.str() + toString(reshard.getTo().getLayout());
    llvm::raw_string_ostream(type) << reshard.getType();
    std::string key = llvm::join_items("\n", row.pass, row.steps, type, layouts);
    for (StringRef text : {row.value, row.reader})
      key += "\n" + nodeFamily(text);
    for (StringRef text : {cause.text, cause.request})
      key += "\n" + withoutNumbers(text);
    auto [at, isNew] = positions.try_emplace(key, table.rows.size());
    if (isNew) {
      table.rows.push_back(row);
      members.emplace_back();
    }
    Members &own = members[at->second];
    own.values.push_back(row.value);
    own.readers.push_back(row.reader);
    own.causes.push_back(cause.text);
    own.requests.push_back(cause.request);
    return table.rows[at->second];
  }

  const MeshShape &mesh;
  const MeshPrices &meshPrices;
  const MicrobatchAxis micro;
  const LoopSchedule schedule;
  const StepParts parts;
  const ReshardCauses causes;
  ReshardTable table;
  std::vector<Members> members;
  std::map<std::string, size_t> positions;
};

} // namespace

std::optional<ReshardTable> dpc::collectReshards(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("step");
  if (!function)
    function = module.lookupSymbol<func::FuncOp>("infer");
  if (!function || !module->hasAttr(DistDialect::kMachineAttrName))
    return std::nullopt;
  FailureOr<MeshPrices> meshPrices = getMeshPrices(module);
  if (failed(meshPrices))
    return std::nullopt;
  const MeshShape mesh = getMeshShape(module);
  return TableBuilder(function, mesh, *meshPrices).take();
}

static std::string millisecondsText(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f", seconds * 1e3);
  return text;
}

/// Shortens a long name to its end, because names usually differ at the end.
static std::string endOf(StringRef name) {
  constexpr size_t most = 22;
  return name.size() <= most ? name.str() : ".." + name.take_back(most - 2).str();
}

void dpc::addReshards(ExplainReport &report, const ReshardTable &table) {
  ReportSection &section = report.add("reshards of one " + table.function);
  if (table.rows.empty() && table.gradients.count == 0 && table.local == 0)
    return;
  section.lines.push_back("model of the layouts: computing " + millisecondsText(table.computing) +
                          " ms, moving " + millisecondsText(table.moving) + " ms, a rank sends " +
                          bytesText(std::llround(table.sent)));
  if (table.gradients.count > 0)
    section.lines.push_back(
        "gradients of parameters over samples: " + std::to_string(table.gradients.count) +
        ", a rank sends " + bytesText(std::llround(table.gradients.bytes)) + " in " +
        millisecondsText(table.gradients.seconds) + " ms");
  if (table.local > 0)
    section.lines.push_back("cut out of what a rank has, nothing sent: " +
                            std::to_string(table.local));
  if (!table.rows.empty())
    section.lines.push_back("bytes are what a rank sends for a row in one step, over all "
                            "microbatches; along K: dimension K");
  section.columns = {">sent", ">ms (model)",        ">times", "pass", "steps", "what", "read by",
                     "cause", "--shard= that helps"};
  for (const ReshardRow &row : table.rows) {
    auto [first, others] = StringRef(row.request).split(' ');
    first.consume_front("--shard=");
    std::string request = first.str();
    if (!others.empty())
      request += " and " + std::to_string(others.count(' ') + 1) + " more";
    section.addRow({bytesText(std::llround(row.bytes)), millisecondsText(row.seconds),
                    std::to_string(row.count), row.pass, row.steps, endOf(row.value),
                    endOf(row.reader), row.cause, request});
  }
}

std::optional<std::string> dpc::findReshardAbove(const ReshardTable &table, int64_t limit) {
  if (table.rows.empty() || table.rows.front().bytes <= static_cast<double>(limit))
    return std::nullopt;
  const ReshardRow &row = table.rows.front();
  const int64_t bytes = std::llround(row.bytes);
  std::string times = row.count > 1 ? " in " + std::to_string(row.count) + " reshards" : "";
  std::string request =
      row.request == "-" ? "no request is known to help" : row.request + " helps against it";
  return "a rank sends " + exactBytesText(bytes) + times + " a step where " +
         exactBytesText(limit) + " are allowed: " + row.steps + " of '" + row.value +
         "', read by '" + row.reader + "' in the " + row.pass + " pass: " + row.cause + "; " +
         request;
}

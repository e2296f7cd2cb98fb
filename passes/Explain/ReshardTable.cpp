// Collects the reshards of a step: what each moves, why, and what would keep it
// from moving. Those of repeated layers are one row.

#include "passes/Explain/ReshardTable.h"

#include "passes/Explain/Names.h"
#include "passes/Explain/ReshardCause.h"
#include "passes/Sharding/LoopSchedule.h"
#include "passes/Sharding/LowerReshard.h"

#include "dialects/Dist/IR/MachineAttr.h"
#include "dialects/Dist/IR/MeshGroups.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

#include <cmath>
#include <map>

using namespace mlir;
using namespace dpc;
using namespace dpc::dist;

/// "reduce-scatter model, all-gather data+model".
static std::string stepsOf(const ReshardPlan &plan) {
  std::string text;
  for (const ReshardStep &step : plan.steps) {
    std::string kind = toString(step.kind).str();
    std::replace(kind.begin(), kind.end(), '_', '-');
    text += (text.empty() ? "" : ", ") + kind + " " + llvm::join(step.axes, "+");
  }
  return text;
}

/// What reads the result: the first in the program, and how many more.
static std::string readersOf(ReshardOp reshard, const StepParts &parts) {
  SmallVector<Operation *> users(reshard->getUsers());
  llvm::sort(users, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  users.erase(std::unique(users.begin(), users.end()), users.end());
  std::string text = users.front()->hasTrait<OpTrait::IsTerminator>()
                         ? "the program's end"
                         : parts.describe(users.front());
  return users.size() == 1 ? text : text + " +" + std::to_string(users.size() - 1);
}

namespace {

/// Gathers equal reshards of a function in rows.
class TableBuilder {
public:
  TableBuilder(func::FuncOp function, const MeshShape &mesh, const Machine &machine)
      : mesh(mesh), machine(machine), micro(mesh), schedule(function, micro), parts(function),
        causes(parts, mesh) {
    if (auto cost = function->getAttrOfType<CostAttr>(DistDialect::kCostAttrName)) {
      table.computing = 1e-9 * cost.getComputing();
      table.moving = 1e-9 * cost.getMoving();
      table.sent = cost.getSent();
    }
    table.gradients.pass = "update";
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
    // Equal ones in the program's order.
    llvm::stable_sort(table.rows, [](const ReshardRow &a, const ReshardRow &b) {
      return std::pair(a.bytes, a.seconds) > std::pair(b.bytes, b.seconds);
    });
    return std::move(table);
  }

private:
  /// What each reshard of a row says.
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
    llvm::Expected<NearestPlan> best =
        planFromNearest(local, own(reshard.getTo().getLayout()), mesh, machine,
                        tensorBytes(nn::withShape(cast<RankedTensorType>(reshard.getType()), {})));
    if (!best) // dpc-partition says so
      return llvm::consumeError(best.takeError());
    if (best->plan.bytes == 0) {
      ++table.local;
      return;
    }
    const double turns = inside ? micro.getCount() : 1;
    ReshardRow &row = rowOf(reshard, sources[best->source], best->plan);
    ++row.count;
    row.bytes += turns * best->plan.bytes;
    row.seconds += turns * best->plan.seconds;
  }

  bool isGradientSum(ReshardOp reshard, const Layout &start) const {
    const Layout from = withoutIdleAxes(start, mesh);
    return !from.partial.empty() && llvm::all_of(from.partial, [&](const Partial &each) {
      return parts.cutsBatch(each.axis);
    }) && parts.isGradient(reshard, /*summed=*/true);
  }

  ReshardRow &rowOf(ReshardOp reshard, const Layout &start, const ReshardPlan &plan) {
    if (isGradientSum(reshard, start))
      return table.gradients;
    ReshardCause cause = causes.find(reshard, start);
    ReshardRow row;
    row.pass = parts.nameOf(reshard).str();
    row.steps = stepsOf(plan);
    row.value = parts.describe(reshard.getInput());
    row.reader = readersOf(reshard, parts);
    std::string type, layouts = toString(plan.start) + toString(reshard.getTo().getLayout());
    llvm::raw_string_ostream(type) << reshard.getType();
    std::string key = llvm::join_items("\n", row.pass, row.steps, type, layouts);
    for (StringRef text : {row.value, row.reader, cause.text, cause.request})
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
  const Machine &machine;
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
  FailureOr<Machine> machine = getMachine(module);
  if (failed(machine))
    return std::nullopt;
  const MeshShape mesh = getMeshShape(module);
  return TableBuilder(function, mesh, *machine).take();
}

static std::string millisecondsText(double seconds) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3f", seconds * 1e3);
  return text;
}

void dpc::addReshards(Report &report, const ReshardTable &table) {
  ReportSection &section = report.add("reshards of one step");
  if (table.rows.empty() && table.gradients.count == 0 && table.local == 0)
    return;
  section.lines.push_back("model of the layouts: computing " + millisecondsText(table.computing) +
                          " ms, moving " + millisecondsText(table.moving) + " ms, a rank sends " +
                          bytesText(std::llround(table.sent)));
  if (table.gradients.count > 0)
    section.lines.push_back(
        "sums of gradients over samples: " + std::to_string(table.gradients.count) +
        ", a rank sends " + bytesText(std::llround(table.gradients.bytes)) + " in " +
        millisecondsText(table.gradients.seconds) + " ms");
  if (table.local > 0)
    section.lines.push_back("cut out of what a rank has, nothing sent: " +
                            std::to_string(table.local));
  if (!table.rows.empty())
    section.lines.push_back(
        "bytes are what a rank sends in one step, over all microbatches, for all of a row");
  section.columns = {">a rank sends", ">ms (model)", ">times",
                     "pass",          "steps",       "what",
                     "read by",       "cause",       "request that removes it"};
  for (const ReshardRow &row : table.rows)
    section.addRow({bytesText(std::llround(row.bytes)), millisecondsText(row.seconds),
                    std::to_string(row.count), row.pass, row.steps, row.value, row.reader,
                    row.cause, row.request});
}

std::optional<std::string> dpc::findReshardAbove(const ReshardTable &table, int64_t limit) {
  if (table.rows.empty() || table.rows.front().bytes <= static_cast<double>(limit))
    return std::nullopt;
  const ReshardRow &row = table.rows.front();
  const int64_t bytes = std::llround(row.bytes);
  std::string times = row.count > 1 ? " in " + std::to_string(row.count) + " reshards" : "";
  std::string request = row.request == "-" ? "no request removes it" : row.request + " removes it";
  return "a rank sends " + std::to_string(bytes) + " bytes (" + bytesText(bytes) + ")" + times +
         " a step where " + std::to_string(limit) + " (" + bytesText(limit) +
         ") are allowed: " + row.steps + " of '" + row.value + "', read by '" + row.reader +
         "' in the " + row.pass + " pass: " + row.cause + "; " + request;
}

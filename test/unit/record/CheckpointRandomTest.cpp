// Checkpoints of state that lies in any layout that a random program can draw,
// and in any shard of flat storage of it, are read by the ranks that wrote them,
// by ranks that have other layouts, and by one rank.
#include "test/unit/passes/Sharding/RandomRequests.h"

#include "record/PlacementRuns.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/checkpoint/Checkpoint.h"
#include "test/runtime/ForkRanks.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dialects/Dist/IR/DistDialect.h"
#include "dialects/Dist/IR/MeshGroups.h"
#include "dialects/NN/Partition/Partition.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/SetVector.h"

#include <deque>
#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

namespace {

/// A state: its layout, and those of the other axes over which each shard is
/// divided further, as flat storage is, after `first` other elements.
struct Placed {
  dist::Layout layout;
  SmallVector<StringRef> axes;
  int64_t first = 0;
};

/// A program without entries that has some state of f32.
class StateProgram {
public:
  StateProgram(const std::vector<Placed> &all, const dist::MeshShape &mesh)
      : world(mesh.worldSize()), ranks(world) {
    for (uint32_t member = 0; member < world; ++member)
      members.push_back(member);
    family = {"world", 1, world, members.data()};
    for (const Placed &each : all)
      add(each, mesh);
    for (dpc_rank_t &rank : ranks) {
      rank.struct_size = sizeof rank;
      rank.arena_bytes = arenaBytes;
    }
    record.struct_size = sizeof record;
    record.abi_version = DPC_ABI_VERSION;
    record.name = record.command = "random";
    axis = {"ranks", world, 0};
    record.axes = &axis;
    record.axis_count = 1;
    record.world_size = world;
    record.families = &family;
    record.family_count = 1;
    record.ranks = ranks.data();
    record.batch = record.microbatches = 1;
    record.states = states.data();
    record.state_count = states.size();
  }
  StateProgram(const StateProgram &) = delete;

  const dpc_program_t &get() const { return record; }
  uint64_t bytes() const { return arenaBytes; }

private:
  void add(const Placed &each, const dist::MeshShape &mesh) {
    auto shape = each.layout.shape();
    shapes.emplace_back(shape.begin(), shape.end());
    names.push_back("state" + std::to_string(states.size()));
    int64_t shard = 1;
    for (int64_t extent : dist::localShape(each.layout, mesh))
      shard *= extent;
    const int64_t parts = dist::groupSize(mesh, each.axes),
                  part = (each.first + shard + parts - 1) / parts;
    placements.emplace_back();
    for (uint32_t rank = 0; rank < world; ++rank) {
      const auto coordinates = mesh.coordinates(rank);
      const int64_t index = dist::groupIndex(mesh, each.axes, coordinates),
                    low = std::max<int64_t>(0, index * part - each.first),
                    high = std::min(shard, (index + 1) * part - each.first);
      runs.emplace_back();
      if (low < high)
        runs.back() = placementRuns(each.layout, coordinates, mesh, low, high);
      dpc_placement_t placement = {};
      placement.space = DPC_SPACE_ARENA;
      placement.owner = 1;
      placement.offset = arenaBytes;
      placement.elements = low < high ? high - low : 0;
      placement.run_count = runs.back().size();
      placement.runs = runs.back().data();
      placements.back().push_back(placement);
    }
    arenaBytes += (part * sizeof(float) + 63) / 64 * 64;
    dpc_state_t state = {};
    state.struct_size = sizeof state;
    state.kind = DPC_STATE_PARAMETER;
    state.name = names.back().c_str();
    state.dtype = DPC_F32;
    state.dim_count = shapes.back().size();
    state.shape = shapes.back().data();
    state.init_kind = DPC_INIT_SPLAT;
    state.parameter = DPC_NONE;
    state.changes = 1;
    state.placements = placements.back().data();
    states.push_back(state);
  }

  uint32_t world;
  uint64_t arenaBytes = 64;
  std::vector<uint32_t> members;
  dpc_axis_t axis = {};
  dpc_group_family_t family = {};
  std::vector<dpc_rank_t> ranks;
  std::deque<std::vector<int64_t>> shapes;
  std::deque<std::string> names;
  std::deque<std::vector<dpc_run_t>> runs;
  std::deque<std::vector<dpc_placement_t>> placements;
  std::vector<dpc_state_t> states;
  dpc_program_t record = {};
};

/// Calls body(session) on each rank of a program; what went wrong, or "".
std::string onRanks(const dpc_program_t &program,
                    const std::function<dpc_status_t(dpc_session &)> &body) {
  TemporaryDirectory directory;
  const std::string address = "file://" + directory.path;
  auto results = forkRanks(program.world_size, [&](uint32_t rank, RankReport &report) {
    dpc_session_options_t options;
    dpc_session_options_default(&options);
    options.rank = rank;
    options.world_size = program.world_size;
    options.rendezvous = address.c_str();
    dpc_session session(program, options);
    dpc_status_t status = session.open();
    if (status == DPC_OK)
      status = body(session);
    std::snprintf(report.message, sizeof report.message, "%s", dpc_last_error());
    return int(status);
  });
  for (uint32_t rank = 0; rank < program.world_size; ++rank)
    if (results[rank].exitCode != DPC_OK && results[rank].exitCode != DPC_PEER)
      return "rank " + std::to_string(rank) + ": " + results[rank].message;
  return "";
}

/// Sets each state to numbers of its own, as a whole tensor has them.
dpc_status_t fill(dpc_session &session) {
  for (uint32_t i = 0; i < session.program.state_count; ++i) {
    auto number = [i](uint64_t begin, uint64_t count, char *to) -> dpc_status_t {
      for (uint64_t k = 0; k < count; ++k)
        reinterpret_cast<float *>(to)[k] = float(1 + 65536 * i + begin + k);
      return DPC_OK;
    };
    if (dpc_status_t status = session.scatter(i, DPC_F32, ReadElements(number)))
      return status;
  }
  return DPC_OK;
}

dpc_status_t readArena(dpc_session &session, uint64_t bytes, std::vector<char> *out) {
  out->resize(bytes);
  return session.queue->download(out->data(), {DPC_SPACE_ARENA, 0}, bytes);
}

/// Resumes from a directory, and looks for the numbers of `fill`, and zeros in
/// padding.
dpc_status_t resume(dpc_session &session, const std::string &directory, uint64_t bytes) {
  std::vector<char> want, got;
  if (dpc_status_t status = fill(session))
    return status;
  if (dpc_status_t status = readArena(session, bytes, &want))
    return status;
  const std::vector<char> zeros(bytes);
  if (dpc_status_t status = session.queue->upload({DPC_SPACE_ARENA, 0}, zeros.data(), zeros.size()))
    return status;
  if (dpc_status_t status = resumeCheckpoint(session, directory))
    return status;
  if (dpc_status_t status = readArena(session, bytes, &got))
    return status;
  return got == want ? DPC_OK : fail(DPC_INVALID, "other elements were read");
}

class CheckpointRandom : public ::testing::Test {
protected:
  CheckpointRandom() : context(makeRegistry()) {
    context.disableMultithreading();
    context.loadDialect<nn::NNDialect, dist::DistDialect, func::FuncDialect>();
  }
  static DialectRegistry makeRegistry() {
    DialectRegistry registry;
    registerPartitionModels(registry);
    return registry;
  }
  MLIRContext context;
};

/// Layouts of a placed program in which state can lie: no sum is open, and no loop
/// has a part.
std::vector<dist::Layout> collectLayouts(ModuleOp module, const dist::MeshShape &mesh) {
  llvm::SetVector<dist::LayoutAttr> found;
  AttrTypeWalker walker;
  walker.addWalk([&](dist::LayoutAttr layout) { found.insert(layout); });
  module.walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  std::vector<dist::Layout> out;
  for (dist::LayoutAttr attr : found) {
    const dist::Layout &layout = attr.getLayout();
    if (layout.partial.empty() && llvm::none_of(dist::shardedAxes(layout), [&](StringRef axis) {
          return mesh.axes[*mesh.axisIndex(axis)].sequential;
        }))
      out.push_back(layout);
  }
  return out;
}

TEST_F(CheckpointRandom, EveryLayoutIsReadAgain) {
  uint32_t first = 0, count = std::getenv("DPC_LONG") ? 2000 : 120, overlapping = 0, all = 0;
  if (const char *seed = std::getenv("DPC_SEED"))
    first = std::atoi(seed), count = 1;
  for (uint32_t seed = first; seed < first + count; ++seed) {
    std::optional<PartitionCase> trial = makeCase(context, makeRandomProgram(seed));
    ASSERT_TRUE(trial) << "DPC_SEED=" << seed;
    std::mt19937 random(seed);
    trial->detours = seed;
    addRequests(*trial, random);
    ScopedDiagnosticHandler handler(&context, [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> module = place(*trial);
    if (!module)
      continue;
    const dist::MeshShape mesh = dist::getMeshShape(*module);
    std::vector<Placed> written, other, whole;
    for (const dist::Layout &layout : collectLayouts(*module, mesh)) {
      Placed each{layout, {}, 0};
      if (random() % 2)
        for (const dist::MeshAxis &axis : mesh.axes)
          if (!axis.sequential && random() % 2 &&
              !llvm::is_contained(dist::shardedAxes(layout), axis.name))
            each.axes.push_back(axis.name);
      if (!each.axes.empty())
        each.first = random() % 7;
      // The ranks' shards have an element in common, but are not the same.
      for (const dist::DimLayout &dim : layout.dims)
        overlapping += dim.segments.size() > 1 && !dist::shardedAxes(dim).empty() &&
                       llvm::any_of(dim.segments, [](const dist::Segment &segment) {
                         return llvm::all_of(segment.factors, [](const dist::Factor &factor) {
                           return factor.axes.empty();
                         });
                       });
      ++all;
      written.push_back(each);
      whole.push_back({dist::Layout::replicated(layout.shape()), {}, 0});
    }
    if (written.empty())
      continue;
    // Each state under the layout of another one of its shape.
    for (const Placed &each : written) {
      std::vector<const Placed *> alike;
      for (const Placed &candidate : written)
        if (candidate.layout.shape() == each.layout.shape())
          alike.push_back(&candidate);
      other.push_back(*alike[random() % alike.size()]);
    }
    TemporaryDirectory folder;
    const std::string checkpoints = folder.path + "/checkpoints";
    const StateProgram writer(written, mesh), reader(other, mesh), one(whole, dist::MeshShape());
    ASSERT_EQ(onRanks(writer.get(),
                      [&](dpc_session &session) {
                        const dpc_status_t status = fill(session);
                        return status ? status : saveCheckpoint(session, checkpoints);
                      }),
              "")
        << "DPC_SEED=" << seed;
    for (const StateProgram *program : {&writer, &reader, &one})
      ASSERT_EQ(onRanks(program->get(),
                        [&](dpc_session &session) {
                          return resume(session, checkpoints, program->bytes());
                        }),
                "")
          << "DPC_SEED=" << seed << ", " << program->get().world_size << " ranks";
  }
  if (count == 1)
    return;
  EXPECT_GE(all, count * 3);
  EXPECT_GE(overlapping, count / 10) << "too few layouts that are part sharded";
}

} // namespace

// Reads and writes the sharding specs of an ONNX file. A spec lists devices, shard by
// shard. Reading finds mesh axes that place the same shards on the same devices.

#include "frontends/onnx/Model/ShardingSpecs.h"

#include "frontends/onnx/Model/Failure.h"
#include "frontends/onnx/Model/PipelineStages.h"

#include "OnnxSchema.pb.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

#include <functional>
#include <optional>
#include <set>

namespace dpc::onnx {

static int64_t countDevices(const std::vector<SpecAxis> &mesh) {
  int64_t devices = 1;
  for (const SpecAxis &axis : mesh)
    devices *= axis.size;
  return devices;
}

int64_t SpecPlan::countDevices() const { return onnx::countDevices(mesh); }

static std::string print(const std::vector<SpecAxis> &mesh) {
  std::vector<std::string> texts;
  for (const SpecAxis &axis : mesh)
    texts.push_back(axis.name + "=" + std::to_string(axis.size));
  return texts.empty() ? "no axes" : llvm::join(texts, ",");
}

using Groups = std::vector<std::set<int64_t>>;

/// For each shard, the devices that hold it. Shards are numbered row-major over the
/// factors of all dimensions.
static Groups groupsOf(const SpecLayout &layout, const std::vector<SpecAxis> &mesh) {
  std::vector<size_t> cutting; // axes, outermost first
  for (const auto &dim : layout)
    for (const SpecFactor &factor : dim)
      for (const std::string &name : factor.axes)
        for (size_t axis = 0; axis < mesh.size(); ++axis)
          if (mesh[axis].name == name)
            cutting.push_back(axis);
  int64_t shards = 1;
  for (size_t axis : cutting)
    shards *= mesh[axis].size;
  Groups groups(shards);
  for (int64_t device = 0, count = countDevices(mesh); device < count; ++device) {
    std::vector<int64_t> coordinates(mesh.size());
    int64_t rest = device, shard = 0;
    for (size_t axis = mesh.size(); axis-- > 0; rest /= mesh[axis].size)
      coordinates[axis] = rest % mesh[axis].size;
    for (size_t axis : cutting)
      shard = shard * mesh[axis].size + coordinates[axis];
    groups[shard].insert(device);
  }
  return groups;
}

namespace {
/// Searches for mesh axes that cut each factor of a spec into the number of shards that
/// the spec gives, on the devices that it lists.
class AxisFinder {
public:
  AxisFinder(SpecLayout layout, std::vector<int64_t> shards, const Groups &wanted,
             const std::vector<SpecAxis> &mesh)
      : layout(std::move(layout)), shards(std::move(shards)), wanted(wanted), mesh(mesh),
        used(mesh.size()) {
    for (auto &dim : this->layout)
      for (SpecFactor &factor : dim)
        factors.push_back(&factor);
  }

  std::optional<SpecLayout> find() {
    return fill(0, 1) ? std::optional(std::move(layout)) : std::nullopt;
  }

private:
  /// Assigns axes to the factor with number `factor`, which has `done` shards so far, and
  /// to all later factors. Backtracks if no assignment gives the wanted devices.
  bool fill(size_t factor, int64_t done) {
    if (factor == factors.size())
      return groupsOf(layout, mesh) == wanted;
    if (done == shards[factor])
      return fill(factor + 1, 1);
    for (size_t axis = 0; axis < mesh.size(); ++axis) {
      if (used[axis] || mesh[axis].size == 1 || shards[factor] % (done * mesh[axis].size))
        continue;
      used[axis] = true;
      factors[factor]->axes.push_back(mesh[axis].name);
      if (fill(factor, done * mesh[axis].size))
        return true;
      factors[factor]->axes.pop_back();
      used[axis] = false;
    }
    return false;
  }

  SpecLayout layout;
  const std::vector<int64_t> shards;
  const Groups &wanted;
  const std::vector<SpecAxis> &mesh;
  std::vector<bool> used;
  std::vector<SpecFactor *> factors;
};

class SpecReader {
public:
  SpecReader(const OnnxModel &model, const std::vector<SpecAxis> &mesh)
      : graph(model.proto->graph()), mesh(mesh) {
    for (const auto &tensor : graph.initializer())
      shapes[tensor.name()].assign(tensor.dims().begin(), tensor.dims().end());
    for (const auto *values : {&graph.input(), &graph.value_info(), &graph.output()})
      for (const onnxpb::ValueInfoProto &value : *values)
        if (auto [shape, isNew] = shapes.try_emplace(value.name()); isNew)
          for (const auto &dim : value.type().tensor_type().shape().dim())
            shape->second.push_back(dim.dim_value());
    for (const onnxpb::NodeProto &node : graph.node())
      if (node.output_size())
        makers[node.output(0)] = node.name();
  }

  llvm::Error read(const onnxpb::NodeProto &node, const onnxpb::ShardingSpecProto &spec) {
    const std::string &name = spec.tensor_name();
    if (!llvm::is_contained(node.input(), name) && !llvm::is_contained(node.output(), name))
      return fail(llvm::formatv("node '{0}': its sharding spec is of '{1}', which it neither reads "
                                "nor makes (--as-exported keeps the parameters of the file)",
                                node.name(), name));
    auto shape = shapes.find(name);
    if (shape == shapes.end())
      return fail(llvm::formatv("sharding spec of '{0}': the file states no shape of it", name));
    std::vector<int64_t> shards;
    llvm::Expected<SpecLayout> layout = readDims(spec, shape->second, shards);
    if (!layout)
      return layout.takeError();
    llvm::Expected<Groups> groups = readGroups(spec, shards);
    if (!groups)
      return groups.takeError();
    std::optional<SpecLayout> found = AxisFinder(*layout, shards, *groups, mesh).find();
    if (!found)
      return fail(llvm::formatv("sharding spec of '{0}': no axes of the mesh {1} cut it into {2} "
                                "shards on the devices it lists",
                                name, print(mesh), groups->size()));
    auto maker = makers.find(name);
    const std::string key = maker == makers.end() ? name : maker->second;
    auto [known, isNew] = layouts.try_emplace(key, *found);
    if (!isNew && groupsOf(known->second, mesh) != *groups)
      return fail(llvm::formatv("sharding specs of '{0}' contradict each other: {1} shards and {2}",
                                name, groupsOf(known->second, mesh).size(), groups->size()));
    return llvm::Error::success();
  }

  std::map<std::string, SpecLayout> layouts;

private:
  llvm::Expected<SpecLayout> readDims(const onnxpb::ShardingSpecProto &spec,
                                      const std::vector<int64_t> &shape,
                                      std::vector<int64_t> &shards) {
    const auto rank = static_cast<int64_t>(shape.size());
    SpecLayout layout(rank);
    std::vector<std::vector<int64_t>> counts(rank);
    for (const onnxpb::ShardedDimProto &dim : spec.sharded_dim()) {
      const int64_t axis = dim.axis() < 0 ? dim.axis() + rank : dim.axis();
      if (axis < 0 || axis >= rank)
        return fail(llvm::formatv("sharding spec of '{0}': axis {1}, but it has {2} dimensions",
                                  spec.tensor_name(), dim.axis(), rank));
      if (!layout[axis].empty())
        return fail(llvm::formatv("sharding spec of '{0}': axis {1} is given twice",
                                  spec.tensor_name(), dim.axis()));
      for (const onnxpb::SimpleShardedDimProto &simple : dim.simple_sharding()) {
        if (simple.num_shards() < 1)
          return fail(llvm::formatv("sharding spec of '{0}': {1} shards along axis {2}",
                                    spec.tensor_name(), simple.num_shards(), dim.axis()));
        const bool isOnly = dim.simple_sharding_size() == 1 && simple.dim_value() == 0;
        layout[axis].push_back({isOnly ? shape[axis] : simple.dim_value(), {}});
        counts[axis].push_back(simple.num_shards());
      }
    }
    for (int64_t axis = 0; axis < rank; ++axis) {
      if (layout[axis].empty()) {
        layout[axis].push_back({shape[axis], {}});
        counts[axis].push_back(1);
      }
      int64_t extent = 1;
      for (const SpecFactor &factor : layout[axis])
        extent *= factor.size;
      if (shape[axis] && extent != shape[axis])
        return fail(llvm::formatv("sharding spec of '{0}': {1} indices along axis {2}, but it has "
                                  "{3}",
                                  spec.tensor_name(), extent, axis, shape[axis]));
      shards.insert(shards.end(), counts[axis].begin(), counts[axis].end());
    }
    return layout;
  }

  /// The devices of each shard. The spec of a replicated tensor may list no device; then
  /// all devices hold the tensor.
  llvm::Expected<Groups> readGroups(const onnxpb::ShardingSpecProto &spec,
                                    const std::vector<int64_t> &shards) {
    const int64_t devices = countDevices(mesh);
    int64_t pieces = 1;
    for (int64_t count : shards) {
      if (count > devices || pieces > devices)
        return fail(llvm::formatv("sharding spec of '{0}': {1} shards, but the mesh {2} has {3} "
                                  "devices",
                                  spec.tensor_name(), count, print(mesh), devices));
      pieces *= count;
    }
    std::map<int64_t, std::set<int64_t>> members;
    for (const auto &entry : spec.index_to_device_group_map())
      members[entry.key()].insert(entry.value().begin(), entry.value().end());
    Groups groups;
    for (int64_t device : spec.device()) {
      auto group = members.find(device);
      groups.push_back(group == members.end() ? std::set<int64_t>{device} : group->second);
    }
    for (const std::set<int64_t> &group : groups)
      for (int64_t device : group)
        if (device < 0 || device >= devices)
          return fail(llvm::formatv("sharding spec of '{0}': device {1}, but the mesh {2} has {3}",
                                    spec.tensor_name(), device, print(mesh), devices));
    if (pieces == 1) {
      Groups all(1);
      for (int64_t device = 0; device < devices; ++device)
        all[0].insert(device);
      std::set<int64_t> listed;
      for (const std::set<int64_t> &group : groups)
        listed.insert(group.begin(), group.end());
      if (!listed.empty() && listed != all[0])
        return fail(llvm::formatv("sharding spec of '{0}': whole on {1} of {2} devices; a tensor "
                                  "lies on all",
                                  spec.tensor_name(), listed.size(), devices));
      return all;
    }
    if (int64_t(groups.size()) != pieces)
      return fail(llvm::formatv("sharding spec of '{0}': {1} shards, but {2} devices or groups",
                                spec.tensor_name(), pieces, groups.size()));
    return groups;
  }

  const onnxpb::GraphProto &graph;
  const std::vector<SpecAxis> &mesh;
  /// The shape of each tensor, by its name. An extent that the file leaves open is 0.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Node names, by the name of the node's first output.
  std::map<std::string, std::string> makers;
};
} // namespace

llvm::Expected<std::map<std::string, SpecLayout>>
readShardingSpecs(const OnnxModel &model, const std::vector<SpecAxis> &mesh,
                  llvm::raw_ostream &notes) {
  const int64_t devices = countDevices(mesh);
  std::map<std::string, int64_t> configurations;
  for (const onnxpb::DeviceConfigurationProto &configuration : model.proto->configuration())
    configurations[configuration.name()] = configuration.num_devices();
  SpecReader reader(model, mesh);
  bool isNoted = false;
  for (const onnxpb::NodeProto &node : model.proto->graph().node())
    for (const onnxpb::NodeDeviceConfigurationProto &own : node.device_configurations()) {
      auto found = configurations.find(own.configuration_id());
      if (found == configurations.end())
        return fail(llvm::formatv("{0}: node '{1}' is configured for '{2}', which the file lacks",
                                  model.path, node.name(), own.configuration_id()));
      if (found->second != devices) {
        if (!isNoted)
          notes << "note: the layouts in the file are for " << found->second
                << " devices, the mesh has " << devices << ": they are ignored\n";
        isNoted = true;
        continue;
      }
      for (const onnxpb::ShardingSpecProto &spec : own.sharding_spec())
        if (llvm::Error error = reader.read(node, spec))
          return fail(llvm::formatv("{0}: {1}", model.path, llvm::toString(std::move(error))));
    }
  return std::move(reader.layouts);
}

std::map<std::string, std::string> findMakers(const OnnxModel &model) {
  const onnxpb::GraphProto &graph = model.proto->graph();
  std::map<std::string, std::string> makers;
  for (const onnxpb::NodeProto &node : graph.node())
    if (node.output_size() && !node.name().empty())
      makers[node.output(0)] = node.name();
  for (const onnxpb::NodeProto &node : graph.node())
    makers.erase(node.name());
  for (const onnxpb::TensorProto &tensor : graph.initializer())
    makers.erase(tensor.name());
  for (const onnxpb::ValueInfoProto &input : graph.input())
    makers.erase(input.name());
  return makers;
}

static void write(onnxpb::ShardingSpecProto &spec, const SpecLayout &layout,
                  const std::vector<SpecAxis> &mesh) {
  auto sizeOf = [&](const std::string &name) {
    for (const SpecAxis &axis : mesh)
      if (axis.name == name)
        return axis.size;
    return int64_t(1);
  };
  for (auto [index, dim] : llvm::enumerate(layout)) {
    if (llvm::all_of(dim, [](const SpecFactor &factor) { return factor.axes.empty(); }))
      continue;
    onnxpb::ShardedDimProto *sharded = spec.add_sharded_dim();
    sharded->set_axis(index);
    for (const SpecFactor &factor : dim) {
      int64_t shards = 1;
      for (const std::string &axis : factor.axes)
        shards *= sizeOf(axis);
      onnxpb::SimpleShardedDimProto *simple = sharded->add_simple_sharding();
      simple->set_dim_value(factor.size);
      simple->set_num_shards(shards);
    }
  }
  const Groups groups = groupsOf(layout, mesh);
  for (auto [shard, devices] : llvm::enumerate(groups)) {
    if (devices.size() == 1) {
      spec.add_device(*devices.begin());
      continue;
    }
    const int64_t number = -1 - int64_t(shard); // no device has this number: it stands for the
                                                // group
    spec.add_device(number);
    onnxpb::IntIntListEntryProto *entry = spec.add_index_to_device_group_map();
    entry->set_key(number);
    for (int64_t device : devices)
      entry->add_value(device);
  }
}

void writeShardingSpecs(onnxpb::ModelProto &model, onnxpb::GraphProto &graph,
                        const SpecPlan &plan) {
  const std::string name = print(plan.mesh);
  model.clear_configuration();
  onnxpb::DeviceConfigurationProto *configuration = model.add_configuration();
  configuration->set_name(name);
  configuration->set_num_devices(plan.countDevices());
  llvm::StringSet<> written;
  for (onnxpb::NodeProto &node : *graph.mutable_node()) {
    node.clear_device_configurations();
    onnxpb::NodeDeviceConfigurationProto *own = nullptr;
    for (const std::string &input : node.input()) {
      auto layout = plan.tensors.find(input);
      if (layout == plan.tensors.end() || !written.insert(input).second)
        continue;
      if (!own) {
        own = node.add_device_configurations();
        own->set_configuration_id(name);
      }
      onnxpb::ShardingSpecProto *spec = own->add_sharding_spec();
      spec->set_tensor_name(input);
      write(*spec, layout->second, plan.mesh);
    }
  }
  writePipelineStages(graph, plan.starts, name);
}

} // namespace dpc::onnx

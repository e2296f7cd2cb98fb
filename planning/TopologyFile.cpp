// Reads a topology from JSON, and writes it.

#include "planning/TopologyFile.h"

#include "planning/Numbers.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace dpc;

namespace {

/// Reads the members of one JSON object. After the first error, it reads nothing more.
class Reader {
public:
  /// `where` names the object in messages. Every object may have a `source`, a text for people.
  Reader(const json::Value *value, std::string where, Error &error)
      : where(std::move(where)), error(error) {
    known.push_back("source");
    if (error)
      return;
    object = value ? value->getAsObject() : nullptr;
    if (!value)
      fail("is missing");
    else if (!object)
      fail("is not an object");
  }
  /// Fails if a key was not read.
  ~Reader() {
    if (error || !object)
      return;
    for (const auto &[key, value] : *object)
      if (!error && !llvm::is_contained(known, key.str()))
        fail(("has the unknown key '" + key.str() + "'"));
  }

  const json::Value *find(StringRef key) {
    known.push_back(key.str());
    return error || !object ? nullptr : object->get(key);
  }

  /// Reads the number `key`, times `unit`, to `to`. Keeps `to` if the key is absent and optional.
  void number(StringRef key, double unit, double &to, bool isOptional = false) {
    const json::Value *value = find(key);
    if (error || (!value && isOptional))
      return;
    std::optional<double> number = value ? value->getAsNumber() : std::nullopt;
    if (!number)
      return fail(value ? "has a '" + key.str() + "' that is not a number"
                        : "has no '" + key.str() + "'");
    to = *number * unit;
  }

  void text(StringRef key, std::string &to) {
    const json::Value *value = find(key);
    if (error)
      return;
    std::optional<StringRef> text = value ? value->getAsString() : std::nullopt;
    if (!text)
      return fail(value ? "has a '" + key.str() + "' that is not a text"
                        : "has no '" + key.str() + "'");
    to = text->str();
  }

  void fail(std::string what) { error = planError("{0} {1}", where, what); }

private:
  std::string where;
  Error &error;
  const json::Object *object = nullptr;
  std::vector<std::string> known;
};

constexpr double kGiga = 1e9, kTera = 1e12, kMega = 1e6, kMicro = 1e-6, kGibi = 1 << 30;

const std::pair<StringRef, CollectiveKind> kKinds[] = {
    {"all_reduce", CollectiveKind::allReduce},
    {"all_gather", CollectiveKind::allGather},
    {"reduce_scatter", CollectiveKind::reduceScatter},
    {"all_to_all", CollectiveKind::allToAll}};

const std::pair<StringRef, LevelShape> kShapes[] = {
    {"switch", LevelShape::switched}, {"ring", LevelShape::ring}, {"torus", LevelShape::torus}};

/// Reads pairs of a size, times `unit`, and a share.
void readPoints(Reader &reader, StringRef key, double unit, Efficiency &efficiency) {
  const json::Value *list = reader.find(key);
  if (!list)
    return;
  auto fail = [&] {
    reader.fail(("has a '" + key + "' that is not a list of [size, share]").str());
  };
  if (!list->getAsArray())
    return fail();
  for (const json::Value &pair : *list->getAsArray()) {
    const json::Array *numbers = pair.getAsArray();
    if (!numbers || numbers->size() != 2 || !(*numbers)[0].getAsNumber() ||
        !(*numbers)[1].getAsNumber())
      return fail();
    efficiency.points.push_back(
        {*(*numbers)[0].getAsNumber() * unit, *(*numbers)[1].getAsNumber()});
  }
}

void readDevice(const json::Value *value, Device &to, Error &error) {
  Reader device(value, "'device'", error);
  device.number("memory_GiB", kGibi, to.memoryBytes, /*isOptional=*/true);
  device.number("memory_GB_per_s", kGiga, to.memoryBytesPerSecond);
  device.number("launch_us", kMicro, to.launchSeconds, /*isOptional=*/true);
  device.number("slowdown_of_communication", 1, to.slowdownOfCommunication, /*isOptional=*/true);
  {
    Reader rates(device.find("TFLOP_per_s"), "'TFLOP_per_s' of 'device'", error);
    for (size_t type = 0; type < kNumberTypes; ++type)
      rates.number(nameOf(NumberType(type)), kTera, to.flopsPerSecond[type],
                   /*isOptional=*/NumberType(type) != NumberType::f32);
  }
  const json::Value *efficiency = device.find("efficiency");
  if (!efficiency)
    return;
  Reader classes(efficiency, "'efficiency' of 'device'", error);
  for (size_t kind = 0; kind < kKernelClasses; ++kind) {
    const StringRef name = nameOf(KernelClass(kind));
    const json::Value *own = classes.find(name);
    if (!own)
      continue;
    Reader reader(own, ("the efficiency of class '" + name + "'").str(), error);
    readPoints(reader, "GFLOP", kGiga, to.flopsEfficiency[kind]);
    readPoints(reader, "MB", kMega, to.bytesEfficiency[kind]);
  }
}

/// Reads the whole number `key`, which is from 1 on. Without it, or if it is "any", returns 0.
int64_t readSize(Reader &reader, StringRef key, Error &error) {
  double size = 0;
  reader.number(key, 1, size, /*isOptional=*/true);
  if (error || !reader.find(key))
    return 0;
  constexpr double kMost = 1 << 30;
  if (size >= 1 && size <= kMost && size == int64_t(size))
    return int64_t(size);
  reader.fail(
      formatv("has the size {0}, which is not a whole number from 1 on", numberText(size)).str());
  return 0;
}

LinkLevel readLevel(const json::Value &value, size_t number, Error &error) {
  LinkLevel level;
  Reader reader(&value, formatv("level {0}", number).str(), error);
  reader.text("name", level.name);
  level.size = readSize(reader, "size", error);
  reader.number("GB_per_s", kGiga, level.bytesPerSecond);
  reader.number("unit_GB_per_s", kGiga, level.unitBytesPerSecond, /*isOptional=*/true);
  reader.number("step_us", kMicro, level.stepSeconds, /*isOptional=*/true);
  reader.number("start_us", kMicro, level.startSeconds, /*isOptional=*/true);
  if (const json::Value *sums = reader.find("sums")) {
    if (!sums->getAsBoolean())
      reader.fail("has a 'sums' that is neither true nor false");
    else
      level.sumsInNetwork = *sums->getAsBoolean();
  }
  if (const json::Value *shape = reader.find("shape")) {
    const auto *known = llvm::find_if(
        kShapes, [&](const auto &each) { return shape->getAsString() == each.first; });
    if (known == std::end(kShapes))
      reader.fail("has a 'shape' that is none of switch, ring and torus");
    else
      level.shape = known->second;
  }
  return level;
}

void readFile(const json::Value &file, Topology &topology, Error &error) {
  Reader reader(&file, "the topology", error);
  reader.text("name", topology.name);
  readDevice(reader.find("device"), topology.device, error);
  if (const json::Value *value = reader.find("start_us")) {
    Reader starts(value, "'start_us'", error);
    for (const auto &[name, kind] : kKinds)
      starts.number(name, kMicro, topology.startSeconds[size_t(kind)], /*isOptional=*/true);
    starts.number("message", kMicro, topology.messageStartSeconds, /*isOptional=*/true);
  }
  const json::Value *levels = reader.find("levels");
  if (error)
    return;
  if (!levels || !levels->getAsArray())
    return reader.fail("has no list 'levels'");
  for (const auto &[number, level] : llvm::enumerate(*levels->getAsArray()))
    topology.levels.push_back(readLevel(level, number, error));
}
} // namespace

Expected<Topology> dpc::readTopology(StringRef text) {
  Expected<json::Value> file = json::parse(text);
  if (!file)
    return planError("this is not JSON: {0}", toString(file.takeError()));
  return topologyFrom(*file);
}

Expected<Topology> dpc::readTopologyFile(StringRef path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file)
    return planError("{0}: {1}", path, file.getError().message());
  Expected<Topology> topology = readTopology((*file)->getBuffer());
  if (!topology)
    return planError("{0}: {1}", path, toString(topology.takeError()));
  return topology;
}

Expected<Topology> dpc::topologyFrom(const json::Value &object) {
  Topology topology;
  Error error = Error::success();
  readFile(object, topology, error);
  if (error)
    return std::move(error);
  if (Error bad = topology.check())
    return std::move(bad);
  return topology;
}

/// Returns `number` in units of `unit`, rounded to twelve digits, so that the number of a file
/// comes back as the file has it.
static double inUnits(double number, double unit) {
  double rounded = 0;
  StringRef(formatv("{0:e11}", number / unit).str()).getAsDouble(rounded);
  return rounded;
}

/// Adds `number` in units of `unit`, unless it is `absent`.
static void put(json::Object &object, StringRef key, double number, double unit,
                double absent = 0) {
  if (number != absent)
    object[key] = inUnits(number, unit);
}

static json::Value pointsOf(const Efficiency &efficiency, double unit) {
  json::Array points;
  for (auto [size, share] : efficiency.points)
    points.push_back(json::Array({inUnits(size, unit), share}));
  return points;
}

static json::Object toObject(const Device &device) {
  json::Object object, rates, classes;
  put(object, "memory_GiB", device.memoryBytes, kGibi);
  put(object, "memory_GB_per_s", device.memoryBytesPerSecond, kGiga);
  put(object, "launch_us", device.launchSeconds, kMicro);
  put(object, "slowdown_of_communication", device.slowdownOfCommunication, 1, 1);
  for (size_t type = 0; type < kNumberTypes; ++type)
    put(rates, nameOf(NumberType(type)), device.flopsPerSecond[type], kTera);
  object["TFLOP_per_s"] = std::move(rates);
  for (size_t kind = 0; kind < kKernelClasses; ++kind) {
    json::Object own;
    if (!device.flopsEfficiency[kind].points.empty())
      own["GFLOP"] = pointsOf(device.flopsEfficiency[kind], kGiga);
    if (!device.bytesEfficiency[kind].points.empty())
      own["MB"] = pointsOf(device.bytesEfficiency[kind], kMega);
    if (!own.empty())
      classes[nameOf(KernelClass(kind))] = std::move(own);
  }
  if (!classes.empty())
    object["efficiency"] = std::move(classes);
  return object;
}

static json::Object toObject(const LinkLevel &level) {
  json::Object object{{"name", level.name}};
  if (level.size != 0)
    object["size"] = level.size;
  put(object, "GB_per_s", level.bytesPerSecond, kGiga);
  put(object, "unit_GB_per_s", level.unitBytesPerSecond, kGiga);
  put(object, "step_us", level.stepSeconds, kMicro);
  put(object, "start_us", level.startSeconds, kMicro);
  if (level.sumsInNetwork)
    object["sums"] = true;
  for (const auto &[name, shape] : kShapes)
    if (shape == level.shape && shape != LevelShape::switched)
      object["shape"] = name;
  return object;
}

json::Value dpc::toJson(const Device &device) { return toObject(device); }

json::Value dpc::toJson(const Topology &topology) {
  json::Object object{{"name", topology.name}, {"device", toObject(topology.device)}};
  json::Object starts;
  for (const auto &[name, kind] : kKinds)
    put(starts, name, topology.startSeconds[size_t(kind)], kMicro);
  put(starts, "message", topology.messageStartSeconds, kMicro);
  if (!starts.empty())
    object["start_us"] = std::move(starts);
  json::Array levels;
  for (const LinkLevel &level : topology.levels)
    levels.push_back(toObject(level));
  object["levels"] = std::move(levels);
  return object;
}

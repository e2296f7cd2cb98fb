// Reads a topology from JSON.

#include "planning/TopologyFile.h"

#include "planning/PlanError.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/JSON.h"

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

constexpr double kGiga = 1e9, kTera = 1e12, kMicro = 1e-6, kGibi = 1 << 30;

const std::pair<StringRef, CollectiveKind> kKinds[] = {
    {"all_reduce", CollectiveKind::allReduce},
    {"all_gather", CollectiveKind::allGather},
    {"reduce_scatter", CollectiveKind::reduceScatter},
    {"all_to_all", CollectiveKind::allToAll}};

void readDevice(const json::Value *value, Topology &topology, Error &error) {
  Reader device(value, "'device'", error);
  device.number("memory_GiB", kGibi, topology.memoryBytes);
  device.number("memory_GB_per_s", kGiga, topology.memoryBytesPerSecond);
  device.number("launch_us", kMicro, topology.launchSeconds, /*isOptional=*/true);
  const json::Value *rates = device.find("TFLOP_per_s");
  Reader reader(rates, "'TFLOP_per_s' of 'device'", error);
  if (error)
    return;
  for (const auto &[type, rate] : *rates->getAsObject())
    if (type != "source")
      reader.number(type, kTera, topology.flopsPerSecond[type.str()]);
}

Level readLevel(const json::Value &value, size_t number, Error &error) {
  Level level;
  Reader reader(&value, formatv("level {0}", number).str(), error);
  double size = 0;
  reader.text("name", level.name);
  reader.number("size", 1, size);
  reader.number("GB_per_s", kGiga, level.bytesPerSecond);
  reader.number("unit_GB_per_s", kGiga, level.unitBytesPerSecond, /*isOptional=*/true);
  reader.number("step_us", kMicro, level.stepSeconds);
  reader.number("start_us", kMicro, level.startSeconds, /*isOptional=*/true);
  constexpr double kMost = 1 << 30;
  if (!error && !(size >= 1 && size <= kMost && size == int64_t(size)))
    reader.fail(
        formatv("has the size {0}, which is not a whole number from 1 on", numberText(size)).str());
  if (!error)
    level.size = int64_t(size);
  return level;
}

void readFile(const json::Value &file, Topology &topology, Error &error) {
  Reader reader(&file, "the topology", error);
  reader.text("name", topology.name);
  readDevice(reader.find("device"), topology, error);
  if (const json::Value *value = reader.find("start_us")) {
    Reader starts(value, "'start_us'", error);
    for (const auto &[name, kind] : kKinds)
      starts.number(name, kMicro, topology.startSeconds[size_t(kind)], /*isOptional=*/true);
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
  Topology topology;
  Error error = Error::success();
  readFile(*file, topology, error);
  if (error)
    return std::move(error);
  if (Error bad = topology.check())
    return std::move(bad);
  return topology;
}

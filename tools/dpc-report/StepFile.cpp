// Reads plans and traces of steps.

#include "tools/dpc-report/StepFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <algorithm>
#include <limits>
#include <set>

using namespace llvm;
using namespace dpc;

bool WorkKey::operator<(const WorkKey &other) const {
  return std::tie(name, group, type, buffer, elements, members) <
         std::tie(other.name, other.group, other.type, other.buffer, other.elements, other.members);
}

std::string WorkKey::describe() const {
  if (!isOperation())
    return "function " + name;
  return formatv("{0} of {1} {2} over {3}, buffer {4}", name, elements, type, group, buffer);
}

const StepOfRanks &StepPlan::timelineOf(int64_t rank) const {
  for (const StepOfRanks &timeline : timelines)
    if (is_contained(timeline.ranks, rank))
      return timeline;
  llvm_unreachable("a rank without a timeline");
}

template <typename... Args>
static Error fileError(const std::string &path, const char *format, Args &&...args) {
  return createStringError(inconvertibleErrorCode(),
                           path + ": " + formatv(format, std::forward<Args>(args)...).str());
}

static Expected<json::Object> readObject(const std::string &path) {
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getFile(path);
  if (!file)
    return fileError(path, "{0}", file.getError().message());
  Expected<json::Value> value = json::parse((*file)->getBuffer());
  if (!value) {
    // The line of the parser, without the name of its buffer.
    std::string message = toString(value.takeError());
    std::replace(message.begin(), message.end(), '\n', ' ');
    return fileError(path, "is not complete JSON: {0}", message);
  }
  if (json::Object *object = value->getAsObject())
    return std::move(*object);
  return fileError(path, "has no JSON object");
}

/// Bytes of an element of a type with this name: "f32", "bf16", "i1".
static double bytesOfType(StringRef type) {
  int64_t bits = 0;
  type.drop_while([](char c) { return !isDigit(c); }).getAsInteger(10, bits);
  return std::max<int64_t>(bits / 8, 1);
}

/// The bytes that a rank sends in an operation, by the parts that its members exchange.
static double sentBytesOf(const WorkKey &key) {
  const double part = double(key.elements) * bytesOfType(key.type);
  const double others = double(key.members) - 1;
  if (key.name == "all-reduce")
    return 2 * part * others / double(key.members);
  if (key.name == "send")
    return part;
  return key.name == "recv" ? 0 : part * others;
}

namespace {
/// An event of a trace with a duration. Times are in seconds.
struct StepEvent {
  WorkKey key;
  std::string nodes;
  int64_t rank = 0, step = 0;
  double begin = 0, seconds = 0, sentBytes = 0;
};
} // namespace

/// Reads the events of a trace. Fails if one of them is incomplete.
static Expected<std::vector<StepEvent>> readEvents(const std::string &path,
                                                   const json::Object &file) {
  const json::Array *array = file.getArray("traceEvents");
  if (!array)
    return fileError(path, "is no trace: it has no traceEvents");
  std::vector<StepEvent> events;
  for (const json::Value &value : *array) {
    const json::Object *each = value.getAsObject();
    if (each && each->getString("ph") != StringRef("X"))
      continue;
    const json::Object *args = each ? each->getObject("args") : nullptr;
    const std::optional<StringRef> name = each ? each->getString("name") : std::nullopt;
    const std::optional<double> begin = each ? each->getNumber("ts") : std::nullopt;
    const std::optional<double> length = each ? each->getNumber("dur") : std::nullopt;
    const std::optional<int64_t> rank = each ? each->getInteger("pid") : std::nullopt;
    const std::optional<int64_t> step = args ? args->getInteger("step") : std::nullopt;
    if (!name || !begin || !length || !rank || !step)
      return fileError(path, "event {0} is none of a step", events.size());
    StepEvent event;
    event.key.name = name->str();
    event.rank = *rank;
    event.step = *step;
    event.begin = *begin * 1e-6;
    event.seconds = *length * 1e-6;
    event.nodes = args->getString("node").value_or("").str();
    if (args->get("Collective name")) {
      event.key.group = args->getString("Process Group Name").value_or("").str();
      event.key.type = args->getString("dtype").value_or("").str();
      event.key.buffer = args->getInteger("buffer").value_or(0);
      event.key.elements = args->getInteger("In msg nelems").value_or(0);
      event.key.members = std::max<int64_t>(args->getInteger("Group size").value_or(1), 1);
      event.sentBytes = args->getNumber("sent_bytes").value_or(sentBytesOf(event.key));
    }
    events.push_back(std::move(event));
  }
  return events;
}

static void addEvent(StepOfRanks &step, const StepEvent &event, double share) {
  WorkSum &sum = step.work[event.key];
  sum.calls += share;
  sum.seconds += share * event.seconds;
  sum.sentBytes += share * event.sentBytes;
  sum.nodes = event.nodes;
}

/// The ranks of `array`, if all of its elements are ranks below `worldSize`.
static std::vector<int64_t> ranksOf(const json::Array *array, int64_t worldSize) {
  std::vector<int64_t> ranks;
  for (const json::Value &value : array ? *array : json::Array())
    if (std::optional<int64_t> rank = value.getAsInteger(); rank && *rank >= 0 && *rank < worldSize)
      ranks.push_back(*rank);
  return ranks;
}

static Error readTracedPlan(const std::string &path, const json::Object &file, StepPlan &plan) {
  const json::Object *info = file.getObject("distributedInfo");
  if (!info || info->getString("backend") != StringRef("model"))
    return fileError(path, "is the trace of a run; the first file must be that of "
                           "dpc-compile --report");
  plan.worldSize = info->getInteger("world_size").value_or(0);
  const json::Array *timelines = info->getArray("timelines");
  for (const json::Value &value : timelines ? *timelines : json::Array())
    plan.timelines.push_back({ranksOf(value.getAsArray(), plan.worldSize), 0, {}});
  Expected<std::vector<StepEvent>> events = readEvents(path, file);
  if (!events)
    return events.takeError();
  for (const StepEvent &event : *events)
    for (StepOfRanks &timeline : plan.timelines)
      if (!timeline.ranks.empty() && timeline.ranks.front() == event.rank) {
        addEvent(timeline, event, 1);
        timeline.seconds = std::max(timeline.seconds, event.begin + event.seconds);
        plan.seconds = std::max(plan.seconds, timeline.seconds);
      }
  return Error::success();
}

static void readWork(const json::Object &from, StepOfRanks &step) {
  for (StringRef kind : {"functions", "operations"})
    if (const json::Array *array = from.getArray(kind))
      for (const json::Value &value : *array) {
        const json::Object *each = value.getAsObject();
        if (!each)
          continue;
        WorkKey key;
        key.name = each->getString("name").value_or("").str();
        if (kind == "operations") {
          key.group = each->getString("group").value_or("").str();
          key.type = each->getString("type").value_or("").str();
          key.buffer = each->getInteger("buffer").value_or(0);
          key.elements = each->getInteger("elements").value_or(0);
          key.members = std::max<int64_t>(each->getInteger("group_size").value_or(1), 1);
        }
        WorkSum &sum = step.work[key];
        sum.calls += each->getNumber("calls").value_or(0);
        sum.seconds += each->getNumber("seconds").value_or(0);
        sum.sentBytes += each->getNumber("sent_bytes").value_or(0);
        sum.nodes = each->getString("node").value_or("").str();
      }
}

Expected<StepPlan> dpc::readPlan(const std::string &path) {
  Expected<json::Object> file = readObject(path);
  if (!file)
    return file.takeError();
  StepPlan plan;
  if (file->get("traceEvents")) {
    if (Error error = readTracedPlan(path, *file, plan))
      return std::move(error);
  } else if (!file->getArray("sections")) {
    return fileError(path, "is no file of dpc-compile --report");
  } else {
    const json::Object *step = file->getObject("step");
    if (!step)
      return fileError(path, "has no step: its program only infers");
    plan.worldSize = step->getInteger("world_size").value_or(0);
    plan.seconds = step->getNumber("seconds").value_or(0);
    plan.machine = step->getString("machine").value_or("").str();
    const json::Array *timelines = step->getArray("timelines");
    for (const json::Value &value : timelines ? *timelines : json::Array())
      if (const json::Object *each = value.getAsObject()) {
        plan.timelines.push_back({ranksOf(each->getArray("ranks"), plan.worldSize),
                                  each->getNumber("end_s").value_or(0),
                                  {}});
        readWork(*each, plan.timelines.back());
      }
  }
  std::set<int64_t> ranks;
  bool hasWork = !plan.timelines.empty();
  for (const StepOfRanks &timeline : plan.timelines) {
    ranks.insert(timeline.ranks.begin(), timeline.ranks.end());
    hasWork &= !timeline.work.empty();
  }
  if (!hasWork || int64_t(ranks.size()) != plan.worldSize)
    return fileError(path, "lacks timelines of its {0} ranks", plan.worldSize);
  return plan;
}

/// Whether a function is one of entry `step`: "step.3" or "stage.1.step.3".
static bool isOfStep(StringRef name) {
  return name == "zero" || name.starts_with("step.") || name.contains(".step.");
}

Expected<StepTrace> dpc::readTrace(const std::string &path) {
  Expected<json::Object> file = readObject(path);
  if (!file)
    return file.takeError();
  const json::Object *info = file->getObject("distributedInfo");
  const std::optional<int64_t> rank = info ? info->getInteger("rank") : std::nullopt;
  if (!rank)
    return fileError(path, "is no trace of dpc-run --trace");
  StepTrace trace;
  trace.path = path;
  trace.worldSize = info->getInteger("world_size").value_or(0);
  if (*rank < 0 || *rank >= trace.worldSize)
    return fileError(path, "is of rank {0} of {1}", *rank, trace.worldSize);
  if (int64_t dropped = file->getInteger("droppedEvents").value_or(0))
    return fileError(path, "lacks {0} events that had no room: trace fewer steps", dropped);
  Expected<std::vector<StepEvent>> events = readEvents(path, *file);
  if (!events)
    return events.takeError();
  std::map<int64_t, std::pair<double, double>> steps; // begin and end
  for (const StepEvent &event : *events) {
    if (!event.key.isOperation() && !isOfStep(event.key.name))
      return fileError(path,
                       "has {0}, which is not of a training step: trace a run that only trains",
                       event.key.describe());
    auto [at, isNew] = steps.try_emplace(event.step, event.begin, event.begin + event.seconds);
    at->second.first = std::min(at->second.first, event.begin);
    at->second.second = std::max(at->second.second, event.begin + event.seconds);
  }
  if (steps.empty())
    return fileError(path, "has no step");
  trace.leavesOutFirst = steps.size() > 1;
  if (trace.leavesOutFirst)
    steps.erase(steps.begin());
  trace.steps = steps.size();
  trace.step.ranks = {*rank};
  for (const auto &[step, times] : steps)
    trace.step.seconds += (times.second - times.first) / double(trace.steps);
  for (const StepEvent &event : *events)
    if (steps.count(event.step))
      addEvent(trace.step, event, 1 / double(trace.steps));
  return trace;
}

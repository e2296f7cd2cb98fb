// Writes traces in the Chrome trace event format, as complete events ("X") with
// times in microseconds. Thread 0 has the computation, and thread 1 the
// communication. Collectives have the names and arguments that tools for traces of
// distributed training expect.
#include "runtime/src/trace/Trace.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/OperationNames.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace dpc {

namespace {

std::string quoted(const char *text) {
  return nlohmann::json(text ? text : "")
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// The rank at the other end of the message `action` of `rank`.
uint32_t peerOf(const dpc_action_t &action, const dpc_group_family_t &family, uint32_t rank) {
  const uint32_t *end = family.ranks + size_t(family.group_count) * family.group_size,
                 *own = std::find(family.ranks, end, rank);
  const size_t group = size_t(own - family.ranks) / family.group_size;
  return own == end ? rank : family.ranks[group * family.group_size + action.peer];
}

std::string format(const TraceEvent &event, const dpc_program_t &program, uint32_t rank) {
  const dpc_action_t &action = *event.action;
  const bool comm = action.kind == DPC_ACTION_START;
  const dpc_location_t *location =
      action.location == DPC_NONE ? nullptr : &program.locations[action.location];
  std::string name = comm                                ? opName(action.op)
                     : action.kind == DPC_ACTION_COMPUTE ? program.functions[action.function].name
                                                         : "zero";
  char head[256], args[512];
  std::snprintf(head, sizeof head,
                ",\"ph\":\"X\",\"cat\":\"%s\",\"pid\":%u,\"tid\":%d,\"ts\":%."
                "3f,\"dur\":%.3f",
                comm ? "comm" : "kernel", rank, comm ? 1 : 0, double(event.beginNs) * 1e-3,
                double(event.endNs - event.beginNs) * 1e-3);
  std::string out = "{\"name\":" + quoted(name.c_str()) + head;
  std::snprintf(args, sizeof args, ",\"args\":{\"step\":%llu,\"microbatch\":%u",
                static_cast<unsigned long long>(event.step) + 1, event.micro);
  out += args;
  if (comm) {
    const dpc_group_family_t &family = program.families[action.group];
    std::snprintf(args, sizeof args,
                  ",\"Collective name\":\"%s\",\"In msg "
                  "nelems\":%llu,\"dtype\":\"%s\",\"Group size\":%u,\"buffer\":%llu,"
                  "\"exposed_us\":%.3f,\"Process Group Name\":",
                  opName(action.op), static_cast<unsigned long long>(action.count),
                  dpc_dtype_name(action.dtype), family.group_size,
                  static_cast<unsigned long long>(action.buffer_id),
                  double(event.exposedNs) * 1e-3);
    out += args + quoted(family.name);
    if (action.op == DPC_OP_SEND || action.op == DPC_OP_RECV)
      out += ",\"peer\":" + std::to_string(peerOf(action, family, rank));
  }
  if (location)
    out += ",\"node\":" + quoted(location->node) + ",\"module\":" + quoted(location->module);
  return out + "}}";
}

} // namespace

std::string Trace::fileOfRank(std::string path, uint32_t rank) {
  if (rank == 0)
    return path;
  size_t slash = path.rfind('/'), dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash))
    dot = path.size();
  return path.insert(dot, ".rank" + std::to_string(rank));
}

dpc_status_t Trace::write(const std::string &path, const dpc_program_t &program,
                          uint32_t rank) const {
  AtomicFile file;
  if (dpc_status_t status = file.create(fileOfRank(path, rank)))
    return status;
  char head[256];
  std::snprintf(head, sizeof head,
                "{\"schemaVersion\":1,\"distributedInfo\":{\"backend\":\"local\","
                "\"rank\":%u,\"world_size\":%u},\"droppedEvents\":%llu,"
                "\"traceEvents\":[\n",
                rank, program.world_size, static_cast<unsigned long long>(dropped));
  std::string text = head;
  const char *const threads[] = {"compute", "communication"};
  for (int tid = 0; tid < 2; ++tid) {
    std::snprintf(head, sizeof head,
                  "{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":%u,\"tid\":%"
                  "d,\"args\":{\"name\":\"%s\"}},\n",
                  rank, tid, threads[tid]);
    text += head;
  }
  std::snprintf(head, sizeof head,
                "{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":%u,\"args\":{"
                "\"name\":\"rank %u\"}}",
                rank, rank);
  text += head;
  for (const TraceEvent &event : events) {
    text += ",\n" + format(event, program, rank);
    if (text.size() > 1u << 20) {
      if (dpc_status_t status = file.write(text.data(), text.size()))
        return status;
      text.clear();
    }
  }
  text += "\n]}\n";
  if (dpc_status_t status = file.write(text.data(), text.size()))
    return status;
  return file.commit();
}

} // namespace dpc

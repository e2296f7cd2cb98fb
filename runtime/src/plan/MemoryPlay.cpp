// Simulates the actions of one rank in an entry, and tracks the logical buffer to
// which each byte of memory belongs. A function reads and writes the bytes that the
// record lists as its accesses. A communication uses its buffers from its START to its
// WAIT.
#include "runtime/src/plan/MemoryPlay.h"

#include "runtime/src/base/OperationExtents.h"
#include "runtime/src/base/OperationNames.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/plan/Contents.h"
#include "runtime/src/program/TableWalk.h"

#include <algorithm>
#include <map>

namespace dpc::plan {

namespace {

using Number = unsigned long long;

/// A communication between its START and its WAIT.
struct Flight {
  uint32_t event;
  uint64_t start; ///< index of its START action
  ByteRange in, out;
  std::vector<ByteRange> made; ///< the bytes of the output that the communication writes
  uint32_t buffer;             ///< the logical buffer of the output
};

class MemoryPlay {
public:
  MemoryPlay(const dpc_program_t &program, uint32_t rankIndex, uint32_t entry,
             const GroupPlaces &places, Played &played)
      : program(program), rankIndex(rankIndex), rank(program.ranks[rankIndex]), entry(entry),
        places(places), played(played), ran(program.function_count),
        firstPlaces(program.function_count) {}

  dpc_status_t run(const std::vector<Result> &results) {
    for (uint64_t i = 0; i < rank.buffer_count; ++i) {
      const dpc_logical_buffer_t &buffer = rank.buffers[i];
      if (buffer.kind == DPC_BUFFER_FILLED)
        contents.write({buffer.space, buffer.offset, buffer.offset + buffer.bytes},
                       static_cast<uint32_t>(i));
    }
    const dpc_actions_t &table = rank.entries[entry];
    auto play = [&](uint64_t index, uint32_t micro) {
      ++played.actions;
      current = index;
      if (dpc_status_t failed = perform(table.actions[index], micro))
        return failWithin(failed, "%s", describePlace(program, rankIndex, entry, index).c_str());
      return dpc_status_t(DPC_OK);
    };
    if (dpc_status_t status = walkTable(table, play, kMostActions))
      return status;
    if (dpc_status_t atEnd = finish(results))
      return failWithin(atEnd, "rank %u, end of %s", rankIndex, nameOf(entry));
    return DPC_OK;
  }

private:
  dpc_status_t perform(const dpc_action_t &action, uint32_t micro) {
    switch (action.kind) {
    case DPC_ACTION_COMPUTE:
      return compute(action, micro);
    case DPC_ACTION_START:
      return start(action, micro);
    case DPC_ACTION_WAIT:
      return wait(action.event);
    default:
      return zero(action);
    }
  }

  dpc_status_t compute(const dpc_action_t &action, uint32_t micro) {
    const uint32_t index = action.function;
    const dpc_function_t &function = program.functions[index];
    frames = static_cast<const dpc_frame_t *>(action.args);
    if (function.entry != entry || function.stage != rank.stage)
      return fail(DPC_INVALID, "is of %s, stage %u, not of %s, stage %u", nameOf(function.entry),
                  function.stage, nameOf(entry), rank.stage);
    if (dpc_status_t status = checkPlaces(function, index))
      return status;
    uint64_t &done = ran[index];
    if (done == function.runs || micro != done)
      return fail(
          DPC_INVALID,
          "runs for microbatch %u, after %llu of the %llu for which it runs, in their order", micro,
          Number(done), Number(function.runs));
    // Without frames, whether buffers of a kernel overlap is the same in all microbatches, so it
    // is checked only for the first one.
    const bool isFirst = ++done == 1 || function.frame_count > 0;
    for (uint64_t begin = 0, end = 0; begin < function.access_count; begin = end) {
      while (end < function.access_count &&
             function.accesses[end].launch == function.accesses[begin].launch)
        ++end;
      if (dpc_status_t status = launch(function, begin, end, micro, isFirst))
        return failWithin(status, "launch %u", function.accesses[begin].launch);
    }
    return DPC_OK;
  }

  uint32_t bufferOf(const dpc_access_t &access) const {
    return access.frame ? frames[access.frame - 1].buffer : access.buffer;
  }

  /// Checks that the frame of an access is the buffer that the function expects: that of the same
  /// value and of this microbatch, or one buffer for all microbatches.
  dpc_status_t checkFrame(const dpc_access_t &access, uint32_t micro) const {
    const uint32_t given = bufferOf(access);
    for (uint32_t buffer : {given, access.buffer})
      if (buffer >= rank.buffer_count)
        return fail(DPC_INVALID, "frame %u is buffer %u of %llu", access.frame, buffer,
                    static_cast<unsigned long long>(rank.buffer_count));
    const dpc_logical_buffer_t &own = rank.buffers[given], &first = rank.buffers[access.buffer];
    if (first.frame == 0 ? given == access.buffer : own.frame == first.frame && own.micro == micro)
      return DPC_OK;
    return fail(DPC_INVALID, "gets %s of microbatch %u as frame %u, which is %s of microbatch %u",
                describeBuffer(rank, given).c_str(), own.micro, access.frame,
                describeBuffer(rank, access.buffer).c_str(), first.frame ? micro : 0);
  }

  /// Checks that all calls of a function get the same part of a buffer as the same frame.
  dpc_status_t checkPlaces(const dpc_function_t &function, uint32_t index) {
    std::vector<uint64_t> &first = firstPlaces[index];
    for (uint32_t i = 0; i < function.frame_count; ++i) {
      const dpc_frame_t &frame = frames[i];
      if (frame.buffer >= rank.buffer_count)
        return fail(DPC_INVALID, "frame %u is buffer %u of %llu", i + 1, frame.buffer,
                    Number(rank.buffer_count));
      const uint64_t place = frame.offset - rank.buffers[frame.buffer].offset;
      if (i == first.size())
        first.push_back(place);
      if (place != first[i])
        return fail(DPC_INVALID,
                    "gets %s from byte %llu on as frame %u, but the first call got this frame from "
                    "byte %llu of its buffer on",
                    describeBuffer(rank, frame.buffer).c_str(), Number(place), i + 1,
                    Number(first[i]));
    }
    return DPC_OK;
  }

  /// Checks that a communication uses buffers of its microbatch, and that all messages of a number
  /// are the same part of the same value.
  dpc_status_t checkMoved(const dpc_action_t &action, const dpc_buffer_t &moved, uint32_t micro) {
    const uint32_t index = moved.buffer;
    if (index >= rank.buffer_count)
      return DPC_OK; // checkInside reports it
    const dpc_logical_buffer_t &buffer = rank.buffers[index];
    if (buffer.frame && buffer.micro != micro)
      return fail(DPC_INVALID, "moves %s of microbatch %u for microbatch %u",
                  describeBuffer(rank, index).c_str(), buffer.micro, micro);
    if (action.op != DPC_OP_SEND && action.op != DPC_OP_RECV)
      return DPC_OK;
    const dpc_buffer_t &first =
        firstMessages.try_emplace({action.op, action.buffer_id}, moved).first->second;
    const dpc_logical_buffer_t &owner = rank.buffers[first.buffer];
    if (moved.index_stride)
      return fail(DPC_INVALID, "moves a message by %llu bytes per index in the group",
                  Number(moved.index_stride));
    if (owner.frame == buffer.frame && first.offset - owner.offset == moved.offset - buffer.offset)
      return DPC_OK;
    return fail(DPC_INVALID,
                "moves %s from byte %llu on, but the first message of this number moved %s from "
                "byte %llu on",
                describeBuffer(rank, index).c_str(), Number(moved.offset - buffer.offset),
                describeBuffer(rank, first.buffer).c_str(), Number(first.offset - owner.offset));
  }

  ByteRange rangeOfAccess(const dpc_access_t &access, uint32_t micro) const {
    const uint64_t frame = access.frame ? frames[access.frame - 1].offset : 0;
    return rangeOf(access.space, frame + access.offset, micro, access.micro_stride,
                   places.indexOf(access.family, rankIndex), access.index_stride, access.bytes);
  }

  /// Simulates one kernel or copy: first all its reads, then all its writes. Its
  /// accesses are entries [begin, end) of the function's list of accesses.
  dpc_status_t launch(const dpc_function_t &function, uint64_t begin, uint64_t end, uint32_t micro,
                      bool isFirst) {
    for (uint64_t i = begin; i < end; ++i) {
      const dpc_access_t &access = function.accesses[i];
      if (access.kind == 0 || access.kind >= DPC_ACCESS_KIND_COUNT ||
          (access.family != DPC_NONE && access.family >= program.family_count))
        return fail(DPC_INVALID, "access of kind %u by group family %u", access.kind,
                    access.family);
      if (access.frame > function.frame_count)
        return fail(DPC_INVALID, "access to frame %u of %u", access.frame, function.frame_count);
      if (access.frame)
        if (dpc_status_t status = checkFrame(access, micro))
          return status;
      if (access.kind != DPC_ACCESS_READ)
        continue;
      const ByteRange range = rangeOfAccess(access, micro);
      const bool isForAdd = adds(function, begin, end, DPC_ACCESS_WRITE, access, range, micro);
      if (dpc_status_t status = read(range, bufferOf(access), isForAdd))
        return status;
    }
    for (uint64_t i = begin; i < end; ++i) {
      const dpc_access_t &access = function.accesses[i];
      if (access.kind == DPC_ACCESS_READ)
        continue;
      const ByteRange range = rangeOfAccess(access, micro);
      for (uint64_t k = begin; isFirst && k < end; ++k)
        if (dpc_status_t status = checkTogether(access, range, function.accesses[k], micro))
          return status;
      const bool isTerm = access.kind == DPC_ACCESS_WRITE &&
                          adds(function, begin, end, DPC_ACCESS_READ, access, range, micro);
      if (dpc_status_t status = write(range, bufferOf(access), isTerm))
        return status;
    }
    return DPC_OK;
  }

  /// Whether an access is one half of adding a term to a sum: the kernel reads and writes
  /// the same bytes of a temporary buffer. `counterpart` is the kind of the other half.
  bool adds(const dpc_function_t &function, uint64_t begin, uint64_t end, uint32_t counterpart,
            const dpc_access_t &access, const ByteRange &range, uint32_t micro) const {
    const uint32_t buffer = bufferOf(access);
    if (buffer >= rank.buffer_count || rank.buffers[buffer].kind != DPC_BUFFER_TEMPORARY)
      return false;
    return std::any_of(function.accesses + begin, function.accesses + end,
                       [&](const dpc_access_t &other) {
                         return other.kind == counterpart && bufferOf(other) == buffer &&
                                rangeOfAccess(other, micro) == range;
                       });
  }

  /// Checks that a write to `range` loses no term of a sum.
  dpc_status_t mayLose(const ByteRange &range) const {
    auto term = contents.findUnreadTerm(range);
    if (!term)
      return DPC_OK;
    return fail(
        DPC_INVALID,
        "loses a term of a sum: byte %llu of %s was read before the term was added, and not "
        "after it",
        Number(term->byte), describeBuffer(rank, *term->buffer).c_str());
  }

  /// Checks that `access`, a result or the scratch memory of a kernel, does not overlap
  /// another buffer of the kernel. One overlap is allowed: a result may have exactly the
  /// bytes of an operand, because the kernel then computes in place.
  dpc_status_t checkTogether(const dpc_access_t &access, const ByteRange &range,
                             const dpc_access_t &other, uint32_t micro) const {
    const ByteRange with = rangeOfAccess(other, micro);
    const bool isInPlace = access.kind == DPC_ACCESS_WRITE && other.kind == DPC_ACCESS_READ;
    if (&access == &other || !range.overlaps(with) || (isInPlace && range == with))
      return DPC_OK;
    return fail(DPC_INVALID, "writes %s of %s and %s %s of %s", describe(range).c_str(),
                describeBuffer(rank, bufferOf(access)).c_str(),
                other.kind == DPC_ACCESS_READ ? "reads" : "writes", describe(with).c_str(),
                describeBuffer(rank, bufferOf(other)).c_str());
  }

  /// Checks that a range, which an action uses as a part of `buffer`, lies inside this
  /// buffer.
  dpc_status_t checkInside(const ByteRange &range, uint32_t buffer) const {
    if (buffer >= rank.buffer_count)
      return fail(DPC_INVALID, "buffer %u of %llu", buffer, Number(rank.buffer_count));
    const dpc_logical_buffer_t &place = rank.buffers[buffer];
    const ByteRange whole = {place.space, place.offset, place.offset + place.bytes};
    if (range.space == whole.space && range.begin >= whole.begin && range.end <= whole.end)
      return DPC_OK;
    return fail(DPC_INVALID, "%s as %s, which has %s", describe(range).c_str(),
                describeBuffer(rank, buffer).c_str(), describe(whole).c_str());
  }

  dpc_status_t touch(const Flight &flight, const char *how, const ByteRange &range) const {
    const dpc_action_t &started = rank.entries[entry].actions[flight.start];
    return fail(DPC_INVALID, "%s %s, which %s of action %llu uses until its wait", how,
                describe(range).c_str(), describeAction(program, started).c_str(),
                Number(flight.start));
  }

  dpc_status_t mayRead(const ByteRange &range, uint32_t buffer) const {
    if (dpc_status_t status = checkInside(range, buffer))
      return failWithin(status, "reads");
    for (const Flight &flight : flights)
      if (flight.out.overlaps(range))
        return touch(flight, "reads", range);
    return DPC_OK;
  }

  dpc_status_t mayWrite(const ByteRange &range, uint32_t buffer) const {
    if (dpc_status_t status = checkInside(range, buffer))
      return failWithin(status, "writes");
    for (const Flight &flight : flights)
      if (flight.out.overlaps(range) || flight.in.overlaps(range))
        return touch(flight, "writes", range);
    return DPC_OK;
  }

  dpc_status_t demand(const ByteRange &range, uint32_t buffer, bool isForAdd = false) {
    auto stranger = contents.read(range, buffer, isForAdd);
    if (!stranger)
      return DPC_OK;
    if (!stranger->buffer)
      return fail(DPC_INVALID, "reads %s as %s, but nothing has written byte %llu",
                  describe(range).c_str(), describeBuffer(rank, buffer).c_str(),
                  Number(stranger->byte));
    return fail(DPC_INVALID, "reads %s as %s, but byte %llu is that of %s by now",
                describe(range).c_str(), describeBuffer(rank, buffer).c_str(),
                Number(stranger->byte), describeBuffer(rank, *stranger->buffer).c_str());
  }

  dpc_status_t read(const ByteRange &range, uint32_t buffer, bool isForAdd) {
    if (dpc_status_t status = mayRead(range, buffer))
      return status;
    return demand(range, buffer, isForAdd);
  }

  dpc_status_t write(const ByteRange &range, uint32_t buffer, bool isTerm) {
    if (dpc_status_t status = mayWrite(range, buffer))
      return status;
    if (dpc_status_t status = mayLose(range))
      return failWithin(status, "writes %s", describe(range).c_str());
    if (isTerm)
      contents.add(range, buffer);
    else
      contents.write(range, buffer);
    return DPC_OK;
  }

  dpc_status_t zero(const dpc_action_t &action) {
    const ByteRange range = rangeOfBuffer(action.out, action, action.count);
    // A sum that is zeroed before it is read would be lost. But bytes that are already
    // zero may be zeroed again. For example, the padding of a bucket is zeroed for each
    // microbatch, although some ranks never read it.
    if (auto byte = contents.findUnread(range, action.out.buffer))
      return fail(
          DPC_INVALID, "zeroes %s of %s, but nothing has read byte %llu since it was written",
          describe(range).c_str(), describeBuffer(rank, action.out.buffer).c_str(), Number(*byte));
    if (dpc_status_t status = mayWrite(range, action.out.buffer))
      return status;
    if (dpc_status_t status = mayLose(range))
      return failWithin(status, "zeroes %s", describe(range).c_str());
    contents.zero(range, action.out.buffer);
    return DPC_OK;
  }

  /// The bytes of `elements` elements of an action's buffer. Empty if `elements` is
  /// kNone, which means that the operation does not have this buffer.
  ByteRange rangeOfBuffer(const dpc_buffer_t &buffer, const dpc_action_t &action,
                          uint64_t elements) const {
    if (elements == Extents::kNone)
      return {};
    return rangeOf(buffer.space, buffer.offset, 0, 0, places.indexOf(action.group, rankIndex),
                   buffer.index_stride, elements * dpc_dtype_size(action.dtype));
  }

  /// Whether the operation allows that its input and output overlap in the way that
  /// they do. For example, an all-reduce may be in place. `index` is the rank's index in
  /// the group.
  bool mayShare(const dpc_action_t &action, uint64_t index, const ByteRange &in,
                const ByteRange &out) const {
    const uint64_t part = index * action.count * dpc_dtype_size(action.dtype);
    switch (action.op) {
    case DPC_OP_ALL_REDUCE:
    case DPC_OP_BROADCAST:
      return in.begin == out.begin;
    case DPC_OP_REDUCE_SCATTER:
      return out.begin == in.begin + part;
    case DPC_OP_ALL_GATHER:
      return in.begin == out.begin + part;
    default:
      return false;
    }
  }

  dpc_status_t start(const dpc_action_t &action, uint32_t micro) {
    for (const Flight &flight : flights)
      if (flight.event == action.event)
        return fail(DPC_INVALID, "starts event %u, which action %llu has started", action.event,
                    Number(flight.start));
    const GroupPlaces::Place place = places.of(action.group, rankIndex);
    const dpc_group_family_t &family = program.families[action.group];
    if (place.group == DPC_NONE)
      return fail(DPC_INVALID, "is in group family %s, of which this rank is not", family.name);
    if (action.peer >= family.group_size)
      return fail(DPC_INVALID, "names member %u of %u in group family %s", action.peer,
                  family.group_size, family.name);
    const bool isPair = action.op == DPC_OP_SEND || action.op == DPC_OP_RECV;
    if (isPair && action.peer == place.index)
      return fail(DPC_INVALID, "is with this rank itself");
    if (action.op != DPC_OP_BARRIER && action.op != DPC_OP_RECV)
      if (dpc_status_t status = checkMoved(action, action.in, micro))
        return status;
    if (action.op != DPC_OP_BARRIER && action.op != DPC_OP_SEND)
      if (dpc_status_t status = checkMoved(action, action.out, micro))
        return status;
    Flight flight = {action.event, current, {}, {}, {}, action.out.buffer};
    played.sent.emplace_back();
    if (action.op != DPC_OP_BARRIER)
      if (dpc_status_t status = move(action, place.index, &flight))
        return status;
    flights.push_back(flight);
    return DPC_OK;
  }

  /// Simulates the read of a communication's input, and finds the bytes of the output
  /// that it writes. The input may have bytes that nothing has written, because a
  /// bucket may have gaps between its tensors. Nothing may read these gaps later.
  dpc_status_t move(const dpc_action_t &action, uint64_t index, Flight *flight) {
    const Extents extents = extentsOf(
        action.op, action.count, program.families[action.group].group_size, index == action.peer);
    const ByteRange in = flight->in = rangeOfBuffer(action.in, action, extents.in);
    const ByteRange out = flight->out = rangeOfBuffer(action.out, action, extents.out);
    std::vector<ByteRange> parts;
    if (!in.empty()) {
      if (dpc_status_t status = mayRead(in, action.in.buffer))
        return status;
      if (action.op == DPC_OP_SEND)
        if (dpc_status_t status = demand(in, action.in.buffer))
          return status;
      parts = contents.readParts(in, action.in.buffer);
      if (parts.empty())
        return demand(in, action.in.buffer);
      for (const ByteRange &part : parts)
        played.sent.back().push_back({part.begin - in.begin, part.end - in.begin});
    }
    if (out.empty())
      return DPC_OK;
    if (dpc_status_t status = mayWrite(out, action.out.buffer))
      return status;
    if (in.overlaps(out) && !mayShare(action, index, in, out))
      return fail(DPC_INVALID, "reads %s and writes %s", describe(in).c_str(),
                  describe(out).c_str());
    // If input and output have the same size, a byte of the output counts as written if
    // something has written the byte at the same place in the input. In a reduce-scatter,
    // the same holds for this rank's part of the input. In other operations, e.g. a
    // gather, all bytes of the output count as written. For reductions, GroupPlay checks
    // that all ranks have written the same bytes.
    const uint64_t bytes = out.end - out.begin,
                   skipped = action.op == DPC_OP_REDUCE_SCATTER ? index * bytes : 0;
    if (!in.empty() && (action.op == DPC_OP_REDUCE_SCATTER || in.end - in.begin == bytes)) {
      for (const ByteRange &part : parts) {
        const uint64_t begin = std::max(part.begin - in.begin, skipped),
                       end = std::min(part.end - in.begin, skipped + bytes);
        if (begin < end)
          flight->made.push_back(
              {out.space, out.begin + begin - skipped, out.begin + end - skipped});
      }
    } else {
      flight->made = {out};
    }
    return DPC_OK;
  }

  dpc_status_t wait(uint32_t event) {
    auto at = std::find_if(flights.begin(), flights.end(),
                           [&](const Flight &flight) { return flight.event == event; });
    if (at == flights.end())
      return fail(DPC_INVALID, "nothing has been started as this event");
    for (const ByteRange &part : at->made) {
      if (dpc_status_t status = mayLose(part))
        return status;
      contents.write(part, at->buffer);
    }
    flights.erase(at);
    return DPC_OK;
  }

  dpc_status_t finish(const std::vector<Result> &results) {
    if (!flights.empty())
      return fail(DPC_INVALID, "%s of action %llu is never waited for",
                  describeAction(program, rank.entries[entry].actions[flights[0].start]).c_str(),
                  Number(flights[0].start));
    for (uint32_t f = 0; f < program.function_count; ++f) {
      const dpc_function_t &function = program.functions[f];
      if (function.entry == entry && function.stage == rank.stage && ran[f] != function.runs)
        return fail(DPC_INVALID, "%s has run for %llu of %llu microbatches", function.name,
                    Number(ran[f]), Number(function.runs));
    }
    for (const Result &result : results)
      if (result.entries & 1u << entry)
        if (dpc_status_t status = demand(result.range, result.buffer))
          return failWithin(status, "%s for the host", result.name);
    for (uint64_t i = 0; i < rank.buffer_count; ++i) {
      const dpc_logical_buffer_t &buffer = rank.buffers[i];
      if (dpc_status_t status =
              mayLose({buffer.space, buffer.offset, buffer.offset + buffer.bytes}))
        return status;
    }
    return DPC_OK;
  }

  const dpc_program_t &program;
  const uint32_t rankIndex;
  const dpc_rank_t &rank;
  const uint32_t entry;
  const GroupPlaces &places;
  Played &played;
  Contents contents;
  std::vector<Flight> flights;
  /// By operation and number of a message: the buffer of the first one.
  std::map<std::pair<uint32_t, uint64_t>, dpc_buffer_t> firstMessages;
  std::vector<uint64_t> ran; ///< for each function: number of microbatches that it has computed
  /// For each function: where the frames of its first call begin in their buffers.
  std::vector<std::vector<uint64_t>> firstPlaces;
  uint64_t current = 0;                ///< index of the current action
  const dpc_frame_t *frames = nullptr; ///< of the current action
};

} // namespace

dpc_status_t playMemory(const dpc_program_t &program, uint32_t rank, uint32_t entry,
                        const GroupPlaces &places, const std::vector<Result> &results,
                        Played *out) {
  return MemoryPlay(program, rank, entry, places, *out).run(results);
}

} // namespace dpc::plan

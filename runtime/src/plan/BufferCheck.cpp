// Checks where a rank's logical buffers lie in memory. A buffer that the host fills
// or reads must not share bytes with another buffer, and must contain the bytes that
// the record gives to the host.
#include "runtime/src/plan/BufferCheck.h"

#include "runtime/src/base/Status.h"

#include <algorithm>

namespace dpc::plan {

namespace {

class BufferCheck {
public:
  BufferCheck(const dpc_program_t &program, uint32_t rankIndex)
      : program(program), rankIndex(rankIndex), rank(program.ranks[rankIndex]) {}

  dpc_status_t run(std::vector<Result> *out) {
    if (dpc_status_t status = checkPlaces())
      return status;
    if (dpc_status_t status = checkOverlaps())
      return status;
    for (uint32_t i = 0; i < program.state_count; ++i)
      if (dpc_status_t status =
              checkHeld("state", program.states[i].name, program.states[i].placements[rankIndex],
                        program.states[i].dtype, 1, 0, DPC_BUFFER_FILLED))
        return status;
    for (uint32_t i = 0; i < program.input_count; ++i) {
      const dpc_input_t &input = program.inputs[i];
      if (dpc_status_t status =
              checkHeld("input", input.name, input.placements[rankIndex], input.dtype,
                        input.micro_count, input.micro_stride, DPC_BUFFER_FILLED))
        return status;
    }
    for (uint32_t i = 0; i < program.control_count; ++i) {
      const dpc_control_t &control = program.controls[i];
      const dpc_place_t &place = control.places[rankIndex];
      const std::string name = std::to_string(i);
      if (place.space == DPC_NONE)
        continue;
      if (dpc_status_t status =
              findHolder("control", name.c_str(),
                         {place.space, place.offset, place.offset + dpc_dtype_size(control.dtype)},
                         DPC_BUFFER_FILLED))
        return status;
    }
    return checkResults(out);
  }

private:
  ByteRange rangeAt(uint64_t index) const {
    const dpc_logical_buffer_t &buffer = rank.buffers[index];
    return rangeOf(buffer.space, buffer.offset, 0, 0, 0, 0, buffer.bytes);
  }

  dpc_status_t checkPlaces() {
    for (uint64_t i = 0; i < rank.buffer_count; ++i) {
      const dpc_logical_buffer_t &buffer = rank.buffers[i];
      const uint64_t extents[DPC_SPACE_COUNT] = {rank.arena_bytes, rank.shared_bytes};
      const ByteRange range = rangeAt(i);
      if (buffer.kind >= DPC_BUFFER_KIND_COUNT)
        return fail(DPC_INVALID, "%s is of unknown kind %u", describeBuffer(rank, i).c_str(),
                    buffer.kind);
      if (buffer.space >= DPC_SPACE_COUNT || range.end > extents[buffer.space])
        return fail(DPC_INVALID, "%s has %s, which has %llu", describeBuffer(rank, i).c_str(),
                    describe(range).c_str(),
                    static_cast<unsigned long long>(
                        buffer.space < DPC_SPACE_COUNT ? extents[buffer.space] : 0));
      if (buffer.kind != DPC_BUFFER_TEMPORARY && !range.empty())
        persistent.push_back(i);
    }
    std::sort(persistent.begin(), persistent.end(), [&](uint64_t a, uint64_t b) {
      const dpc_logical_buffer_t &x = rank.buffers[a], &y = rank.buffers[b];
      return x.space != y.space ? x.space < y.space : x.offset < y.offset;
    });
    return DPC_OK;
  }

  dpc_status_t share(uint64_t a, uint64_t b) const {
    return fail(DPC_INVALID, "%s (%s) and %s (%s) share bytes", describeBuffer(rank, a).c_str(),
                describe(rangeAt(a)).c_str(), describeBuffer(rank, b).c_str(),
                describe(rangeAt(b)).c_str());
  }

  /// The last persistent buffer that begins at or before `byte`; end() if none does.
  std::vector<uint64_t>::const_iterator lastBefore(uint32_t space, uint64_t byte) const {
    auto at = std::upper_bound(
        persistent.begin(), persistent.end(), byte, [&](uint64_t value, uint64_t index) {
          const dpc_logical_buffer_t &buffer = rank.buffers[index];
          return buffer.space != space ? space < buffer.space : value < buffer.offset;
        });
    if (at == persistent.begin() || rank.buffers[*std::prev(at)].space != space)
      return persistent.end();
    return std::prev(at);
  }

  dpc_status_t checkOverlaps() const {
    for (size_t i = 1; i < persistent.size(); ++i)
      if (rangeAt(persistent[i - 1]).overlaps(rangeAt(persistent[i])))
        return share(persistent[i - 1], persistent[i]);
    for (uint64_t i = 0; i < rank.buffer_count; ++i) {
      const ByteRange range = rangeAt(i);
      if (rank.buffers[i].kind != DPC_BUFFER_TEMPORARY || range.empty())
        continue;
      // Persistent buffers do not overlap each other. So if any of them overlaps
      // `range`, the last one that begins before the end of `range` does.
      auto at = lastBefore(range.space, range.end - 1);
      if (at != persistent.end() && rangeAt(*at).overlaps(range))
        return share(i, *at);
    }
    return DPC_OK;
  }

  /// Finds the buffer that contains the bytes `range`, which the host fills or reads.
  /// Fails if no buffer of the kind `kind` contains them.
  dpc_status_t findHolder(const char *what, const char *name, const ByteRange &range, uint32_t kind,
                          uint32_t *out = nullptr) const {
    auto at = lastBefore(range.space, range.begin);
    if (range.empty())
      return DPC_OK;
    if (at == persistent.end() || rangeAt(*at).end < range.end || rank.buffers[*at].kind != kind)
      return fail(DPC_INVALID, "%s %s is at %s, where no buffer is that the host %s", what, name,
                  describe(range).c_str(), kind == DPC_BUFFER_FILLED ? "fills" : "reads");
    if (out)
      *out = static_cast<uint32_t>(*at);
    return DPC_OK;
  }

  dpc_status_t checkHeld(const char *what, const char *name, const dpc_placement_t &placement,
                         uint32_t dtype, uint64_t micros, uint64_t stride, uint32_t kind) const {
    if (placement.run_count == 0)
      return DPC_OK;
    const ByteRange range =
        rangeOf(placement.space, placement.offset, 0, 0, 0, 0,
                placement.elements * dpc_dtype_size(dtype) + (micros - 1) * stride);
    return findHolder(what, name, range, kind);
  }

  dpc_status_t checkResults(std::vector<Result> *out) const {
    for (uint32_t i = 0; i < program.metric_count; ++i) {
      const dpc_metric_t &metric = program.metrics[i];
      const dpc_place_t &place = metric.places[rankIndex];
      uint32_t entries = 0;
      for (uint32_t entry = 0; entry < DPC_ENTRY_COUNT; ++entry)
        if (metric.holders[entry] == DPC_NONE || metric.holders[entry] == rankIndex)
          entries |= metric.entry & 1u << entry;
      if (entries == 0)
        continue;
      Result result = {metric.name,
                       0,
                       entries,
                       {place.space, place.offset, place.offset + dpc_dtype_size(metric.dtype)}};
      if (dpc_status_t status =
              findHolder("metric", metric.name, result.range, DPC_BUFFER_RESULT, &result.buffer))
        return status;
      out->push_back(result);
    }
    for (uint32_t i = 0; i < program.output_count; ++i) {
      const dpc_output_t &output = program.outputs[i];
      const dpc_placement_t &placement = output.placements[rankIndex];
      const uint64_t bytes = placement.elements * dpc_dtype_size(output.dtype);
      for (uint64_t m = 0; placement.run_count && m < output.micro_count; ++m) {
        const uint64_t begin = placement.offset + m * output.micro_stride;
        Result result = {
            output.name, 0, 1u << DPC_ENTRY_INFER, {placement.space, begin, begin + bytes}};
        if (dpc_status_t status =
                findHolder("output", output.name, result.range, DPC_BUFFER_RESULT, &result.buffer))
          return status;
        if (!result.range.empty())
          out->push_back(result);
      }
    }
    return DPC_OK;
  }

  const dpc_program_t &program;
  const uint32_t rankIndex;
  const dpc_rank_t &rank;
  std::vector<uint64_t> persistent; ///< buffers that the host fills or reads, sorted by address
};

} // namespace

dpc_status_t checkBuffers(const dpc_program_t &program, uint32_t rank, std::vector<Result> *out) {
  if (dpc_status_t status = BufferCheck(program, rank).run(out))
    return failWithin(status, "rank %u", rank);
  return DPC_OK;
}

} // namespace dpc::plan

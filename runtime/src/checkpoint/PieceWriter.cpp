// Copies a rank's pieces from the device's memory to host memory, and writes the copy
// while the rank computes the next steps.

#include "runtime/src/checkpoint/PieceWriter.h"

#include "runtime/src/base/Placement.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/data/SafetensorsWriter.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <utility>

namespace dpc {

namespace {

/// The array in a file that holds a piece. If the piece is a complete tensor in its
/// usual order, the array has the shape of the tensor. If not, it is
/// one-dimensional.
dpc_array_t arrayOf(const dpc_state_t &state, const PlannedPiece &piece) {
  const uint64_t count = elementsOf(piece.segments);
  dpc_array_t out = {state.name, state.dtype, 1, {static_cast<int64_t>(count)}, nullptr};
  if (piece.segments.size() == 1 && piece.segments[0].length == count &&
      count == elementCount(state.shape, state.dim_count)) {
    out.dim_count = state.dim_count;
    std::copy(state.shape, state.shape + state.dim_count, out.shape);
  }
  return out;
}

uint64_t bytesOf(const dpc_array_t &array) {
  return dpc_array_elements(&array) * dpc_dtype_size(array.dtype);
}

/// Copies the elements of `segments`, which the rank must hold, from the device's
/// memory to `to`, in the order of `segments`.
dpc_status_t copyPiece(Queue &queue, const dpc_placement_t &place, uint32_t dtype,
                       const std::vector<Segments> &segments, char *to) {
  const uint64_t size = dpc_dtype_size(dtype);
  if (segments == segmentsOf(place)) // all elements of the buffer, in the buffer's order
    return forEachSpan(place, size, 0, UINT64_MAX, [&](uint64_t local, uint64_t count) {
      char *at = std::exchange(to, to + count * size);
      return queue.download(at, {place.space, place.offset + local * size}, count * size);
    });
  return downloadTensor(
      queue, place, dtype, [&](uint64_t begin, uint64_t count, const char *elements) {
        forEachOverlap(segments, begin, begin + count,
                       [&](uint64_t global, uint64_t length, uint64_t position) {
                         std::memcpy(to + position * size, elements + (global - begin) * size,
                                     length * size);
                       });
      });
}

} // namespace

PieceWriter::~PieceWriter() {
  if (thread.joinable())
    thread.join();
}

dpc_status_t PieceWriter::copy(dpc_session &session, const std::vector<PlannedPiece> &plan) {
  uint64_t bytes = 0;
  std::vector<const PlannedPiece *> pieces;
  arrays.clear();
  for (const PlannedPiece &piece : plan)
    if (piece.rank == session.options.rank) {
      pieces.push_back(&piece);
      arrays.push_back(arrayOf(session.program.states[piece.state], piece));
      bytes += bytesOf(arrays.back());
    }
  if (dpc_status_t failed = memory.allocate(bytes))
    return failed;
  char *to = memory.data();
  for (size_t i = 0; i < arrays.size(); ++i) {
    const dpc_placement_t &place =
        session.program.states[pieces[i]->state].placements[session.options.rank];
    arrays[i].data = to;
    if (dpc_status_t failed =
            copyPiece(*session.queue, place, arrays[i].dtype, pieces[i]->segments, to))
      return failed;
    to += bytesOf(arrays[i]);
  }
  return DPC_OK;
}

dpc_status_t PieceWriter::write(const std::string &path) {
  const dpc_metadata_t metadata[] = {{"step", step.c_str()}, {"program", program.c_str()}};
  SafetensorsWriter file;
  if (dpc_status_t failed = file.create(path.c_str(), arrays, metadata, 2))
    return failed;
  for (size_t i : SafetensorsWriter::orderOf(arrays))
    if (dpc_status_t failed = file.write(arrays[i].data, bytesOf(arrays[i])))
      return failed;
  writtenBytes = file.size();
  crc = file.checksum();
  if (dpc_status_t failed = file.commit())
    return failed;
  return readBack(path);
}

/// Checks that the file has the contents that were written. A successful write() is not
/// enough, because older checkpoints are removed as soon as this one exists.
dpc_status_t PieceWriter::readBack(const std::string &path) const {
  Mapping contents;
  if (dpc_status_t failed = contents.openFile(path.c_str()))
    return failed;
  if (contents.size() == writtenBytes && contents.checksum() == crc)
    return DPC_OK;
  return fail(DPC_IO, "%s: it reads back other than it was written (%llu bytes, %zu read)",
              path.c_str(), static_cast<unsigned long long>(writtenBytes), contents.size());
}

dpc_status_t PieceWriter::begin(dpc_session &session, const std::vector<PlannedPiece> &plan,
                                const std::string &path) {
  step = std::to_string(session.control.step);
  program = session.program.name;
  status = copy(session, plan);
  if (status || arrays.empty())
    return status;
  busy = true;
  try {
    thread = std::thread([this, path] {
      try {
        status = write(path);
        if (status)
          cause = dpc_last_error();
      } catch (const std::bad_alloc &) {
        status = DPC_IO;
        cause = path + ": out of memory";
      }
      busy = false;
    });
  } catch (const std::system_error &) {
    busy = false;
    return status = fail(DPC_IO, "%s: no thread can be started to write it", path.c_str());
  }
  return DPC_OK;
}

dpc_status_t PieceWriter::finish() {
  if (thread.joinable())
    thread.join();
  memory = Mapping();
  return status && !cause.empty() ? fail(status, "%s", cause.c_str()) : status;
}

} // namespace dpc

// Finds the cut of a forward pass into chunks by dynamic programming.
//
// The first run finds the smallest possible time of the slowest chunk. The second run minimizes
// bytes and squares among the cuts in which no chunk takes longer than that. Two runs are
// necessary: the best cut of the first ops alone may be faster than the slowest chunk of the
// complete program, and may send more bytes for it.

#include "planning/StageCut.h"

#include "planning/PlanError.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <limits>
#include <tuple>

using namespace llvm;
using namespace dpc;

/// Checks that `readers` is increasing, and that all entries lie in [first, end).
static Error checkReaders(const char *what, size_t index, const std::vector<unsigned> &readers,
                          size_t first, size_t end) {
  for (size_t i = 0; i < readers.size(); ++i) {
    if (readers[i] < first || readers[i] >= end)
      return planError("op {0} reads {1} {2}, but only ops {3} to {4} may", readers[i], what, index,
                       first, end - 1);
    if (i > 0 && readers[i] <= readers[i - 1])
      return planError("{0} {1} lists reader {2} after reader {3}", what, index, readers[i],
                       readers[i - 1]);
  }
  return Error::success();
}

Error StageCutProblem::check() const {
  if (chunks < 1)
    return planError("a cut into {0} chunks", chunks);
  if (inFlight.size() != chunks)
    return planError("{0} chunks, but microbatches in flight for {1}", chunks, inFlight.size());
  if (secondsPerByte < 0 || capacity < 0)
    return planError("a byte takes {0} seconds, and the capacity is {1}", secondsPerByte, capacity);
  for (int64_t count : inFlight)
    if (count < 0)
      return planError("{0} microbatches in flight", count);
  for (auto [index, op] : enumerate(ops))
    if (!(op.seconds >= 0) || op.keptBytes < 0)
      return planError("op {0} takes {1} seconds and keeps {2} bytes", index, op.seconds,
                       op.keptBytes);
  for (auto [index, value] : enumerate(values)) {
    if (value.op >= ops.size() || value.bytes < 0)
      return planError("value {0} of {1} bytes is computed by op {2} of {3}", index, value.bytes,
                       value.op, ops.size());
    if (Error error = checkReaders("value", index, value.readers, value.op + 1, ops.size()))
      return error;
  }
  for (auto [index, state] : enumerate(states)) {
    if (state.bytes < 0)
      return planError("state {0} has {1} bytes", index, state.bytes);
    if (Error error = checkReaders("state", index, state.readers, 0, ops.size()))
      return error;
  }
  return Error::success();
}

namespace {

/// Computes the prices of all chunks that start at one op, from the shortest to the longest.
class ChunkPrices {
public:
  explicit ChunkPrices(const StageCutProblem &problem) : problem(problem) {
    const size_t count = problem.ops.size();
    valueReads.resize(count);
    stateReads.resize(count);
    for (const StageCutProblem::Value &value : problem.values)
      addReads(valueReads, value.readers, value.bytes, value.op);
    for (const StageCutProblem::State &state : problem.states)
      addReads(stateReads, state.readers, state.bytes, 0);
  }

  /// Calls visit(end, price) for each chunk [start, end) in the order of `end`, until visit returns
  /// false. The price counts the kept bytes of one microbatch in `keptBytes`, and only the state in
  /// ChunkPrice::heldBytes.
  template <typename Visitor> void visitChunks(unsigned start, Visitor visit) const {
    ChunkPrice price;
    double computed = 0;
    int64_t keptBytes = 0;
    for (unsigned op = start; op < problem.ops.size(); ++op) {
      computed += problem.ops[op].seconds;
      keptBytes += problem.ops[op].keptBytes;
      for (const Read &read : valueReads[op])
        if (read.maker < start && read.previous < int64_t(start))
          price.receivedBytes += read.bytes;
      for (const Read &read : stateReads[op])
        if (read.previous < int64_t(start))
          price.heldBytes += read.bytes;
      price.seconds = computed + double(price.receivedBytes) * problem.secondsPerByte;
      if (!visit(op + 1, price, keptBytes))
        return;
    }
  }

private:
  /// An op reads a value or a state. `previous` is the reader before it; -1 if it is the first one.
  struct Read {
    unsigned maker;
    int64_t previous;
    int64_t bytes;
  };

  static void addReads(std::vector<std::vector<Read>> &reads, const std::vector<unsigned> &readers,
                       int64_t bytes, unsigned maker) {
    int64_t previous = -1;
    for (unsigned reader : readers) {
      reads[reader].push_back({maker, previous, bytes});
      previous = reader;
    }
  }

  const StageCutProblem &problem;
  /// By op: the values and the states that it reads.
  std::vector<std::vector<Read>> valueReads, stateReads;
};

/// Finds the best cut by dynamic programming over the number of chunks and their ends.
class CutSearch {
public:
  explicit CutSearch(const StageCutProblem &problem)
      : problem(problem), prices(problem), count(problem.ops.size()) {}

  Expected<StageCut> run() {
    // Look at short chunks first, because there are few of them. Only a chunk of all ops takes as
    // long as all ops and messages together.
    double all = 0;
    for (const StageCutProblem::Op &op : problem.ops)
      all += op.seconds;
    for (const StageCutProblem::Value &value : problem.values)
      all += double(value.bytes) * problem.secondsPerByte;
    double slowest = kImpossible;
    for (double limit = 1.25 * all / problem.chunks; slowest == kImpossible && limit < all;
         limit *= 2)
      slowest = findSlowest(limit);
    if (slowest == kImpossible)
      slowest = findSlowest(kImpossible);
    if (slowest == kImpossible)
      return planError("no cut into {0} chunks fits: a chunk may hold {1} bytes", problem.chunks,
                       problem.capacity);
    return findCut(slowest);
  }

private:
  static constexpr double kImpossible = std::numeric_limits<double>::infinity();

  /// Calls visit(chunk, start, end, price) for every chunk that may occur in a cut, in an order in
  /// which all chunks that end at `start` come before.
  template <typename Visitor> void visitAll(double limit, Visitor visit) const {
    for (unsigned start = 0; start < count; ++start)
      prices.visitChunks(start, [&](unsigned end, const ChunkPrice &price, int64_t keptBytes) {
        bool fitsAnywhere = false;
        for (unsigned chunk = 0; chunk < problem.chunks; ++chunk) {
          if (problem.capacity > 0 &&
              price.heldBytes + keptBytes * problem.inFlight[chunk] > problem.capacity)
            continue;
          fitsAnywhere = true;
          if (price.seconds <= limit)
            visit(chunk, start, end, price);
        }
        // A longer chunk needs no less time or memory: each of its values either is in this chunk
        // too, or adds to both.
        return fitsAnywhere && price.seconds <= limit;
      });
  }

  /// Returns the time of the slowest chunk in the cut in which this time is smallest; kImpossible
  /// if no cut consists of chunks that take at most `limit`.
  double findSlowest(double limit) const {
    // By number of chunks and end: the smallest time of the slowest of these chunks.
    std::vector<std::vector<double>> best(problem.chunks + 1,
                                          std::vector<double>(count + 1, kImpossible));
    best[0][0] = 0;
    visitAll(limit, [&](unsigned chunk, unsigned start, unsigned end, const ChunkPrice &price) {
      double &known = best[chunk + 1][end];
      known = std::min(known, std::max(best[chunk][start], price.seconds));
    });
    return best[problem.chunks][count];
  }

  /// Returns the cut with the fewest received bytes, and then the smallest sum of squares, among
  /// the cuts without a chunk that takes longer than `slowest`.
  StageCut findCut(double slowest) const {
    struct Best {
      int64_t bytes = std::numeric_limits<int64_t>::max();
      double squares = kImpossible;
      unsigned start = 0;
    };
    std::vector<std::vector<Best>> best(problem.chunks + 1, std::vector<Best>(count + 1));
    best[0][0] = {0, 0, 0};
    visitAll(slowest, [&](unsigned chunk, unsigned start, unsigned end, const ChunkPrice &price) {
      const Best &before = best[chunk][start];
      if (before.squares == kImpossible)
        return;
      const Best now = {before.bytes + price.receivedBytes,
                        before.squares + price.seconds * price.seconds, start};
      Best &known = best[chunk + 1][end];
      if (std::tie(now.bytes, now.squares) < std::tie(known.bytes, known.squares))
        known = now;
    });
    StageCut cut;
    cut.starts.resize(problem.chunks);
    unsigned end = count;
    for (unsigned chunk = problem.chunks; chunk-- > 0;)
      end = cut.starts[chunk] = best[chunk + 1][end].start;
    return cut;
  }

  const StageCutProblem &problem;
  const ChunkPrices prices;
  const unsigned count;
};

} // namespace

std::vector<ChunkPrice> StageCut::priceChunks(const StageCutProblem &problem) const {
  const ChunkPrices prices(problem);
  std::vector<ChunkPrice> result;
  for (size_t chunk = 0; chunk < starts.size(); ++chunk) {
    const unsigned last = chunk + 1 < starts.size() ? starts[chunk + 1] : problem.ops.size();
    prices.visitChunks(starts[chunk], [&](unsigned end, ChunkPrice price, int64_t keptBytes) {
      if (end < last)
        return true;
      price.heldBytes += keptBytes * problem.inFlight[chunk];
      result.push_back(price);
      return false;
    });
  }
  return result;
}

Error StageCut::verify(const StageCutProblem &problem) const {
  if (starts.size() != problem.chunks)
    return planError("a cut into {0} chunks, not {1}", starts.size(), problem.chunks);
  for (size_t chunk = 0; chunk < starts.size(); ++chunk) {
    const unsigned end = chunk + 1 < starts.size() ? starts[chunk + 1] : problem.ops.size();
    if (starts[chunk] >= end || (chunk == 0 && starts[chunk] != 0))
      return planError("chunk {0} has the ops from {1} to before {2}", chunk, starts[chunk], end);
  }
  if (problem.capacity > 0)
    for (auto [chunk, price] : enumerate(priceChunks(problem)))
      if (price.heldBytes > problem.capacity)
        return planError("chunk {0} holds {1} bytes, more than the capacity {2}", chunk,
                         price.heldBytes, problem.capacity);
  return Error::success();
}

Expected<StageCut> dpc::cutStages(const StageCutProblem &problem) {
  if (Error error = problem.check())
    return std::move(error);
  if (problem.ops.size() < problem.chunks)
    return planError("a forward pass of {0} ops cannot be cut into {1} chunks", problem.ops.size(),
                     problem.chunks);
  return CutSearch(problem).run();
}

Expected<StageCut> dpc::cutStagesWithin(StageCutProblem &problem) {
  if (problem.capacity == 0)
    return cutStages(problem);
  StageCutProblem free = problem;
  free.capacity = 0;
  Expected<StageCut> best = cutStages(free);
  if (!best)
    return best.takeError();
  auto mostHeld = [&](const StageCut &cut) {
    int64_t most = 1;
    for (const ChunkPrice &price : cut.priceChunks(problem))
      most = std::max(most, price.heldBytes);
    return most;
  };
  // No cut satisfies `low`, which starts just below the capacity, and some cut satisfies `high`.
  int64_t low = problem.capacity - 1, high = std::max(mostHeld(*best), problem.capacity);
  const int64_t asked = problem.capacity;
  problem.capacity = high;
  for (int64_t next = asked; low + 1 < high; next = low + (high - low) / 2) {
    if (next != asked && double(high - low) <= 0.02 * double(low))
      break;
    StageCutProblem tried = problem;
    tried.capacity = next;
    Expected<StageCut> cut = cutStages(tried);
    if (cut) {
      high = problem.capacity = next == asked ? asked : mostHeld(*cut);
      best = std::move(cut);
    } else {
      consumeError(cut.takeError()); // only the capacity can be the reason
      low = next;
    }
  }
  return best;
}

std::vector<int64_t> dpc::placeChunks(int64_t stages, int64_t perStage, bool turns) {
  std::vector<int64_t> placed;
  for (int64_t round = 0; round < perStage; ++round)
    for (int64_t stage = 0; stage < stages; ++stage)
      placed.push_back(turns && round % 2 == 1 ? stages - 1 - stage : stage);
  return placed;
}

// Computes with sets of elements that are strided segments: finds overlaps, and
// checks that segments make up a complete tensor. Sets are never expanded to single
// elements: a column of a matrix is one segment for any number of rows.

#include "runtime/src/pieces/Segments.h"

#include "runtime/src/base/Status.h"

#include <utility>

namespace dpc {

namespace {

/// Whether a segment is not empty and all its elements are below `elements`.
bool isInside(const Segments &each, uint64_t elements) {
  uint64_t end = 0, reach = 0;
  if (!each.length || !each.count[0] || !each.count[1] ||
      __builtin_add_overflow(each.begin, each.length, &end))
    return false;
  for (int k = 0; k < 2; ++k)
    if (__builtin_mul_overflow(each.count[k] - 1, each.step[k], &reach) ||
        __builtin_add_overflow(end, reach, &end))
      return false;
  return end <= elements;
}

/// Whether `next` is the next iteration of loop `k` (count[k], step[k]) of `all`. If
/// so, adds this iteration to `all`.
bool continues(Segments *all, const Segments &next, int k) {
  const int other = 1 - k;
  const uint64_t distance = next.begin - all->begin;
  if (next.begin <= all->begin || next.length != all->length || next.count[k] != 1 ||
      next.count[other] != all->count[other] ||
      (next.count[other] > 1 && next.step[other] != all->step[other]) ||
      (all->count[k] > 1 && distance != all->count[k] * all->step[k]))
    return false;
  if (all->count[k] == 1)
    all->step[k] = distance;
  ++all->count[k];
  return true;
}

/// Merges segments that are iterations of one loop `k`. The iterations of up to
/// kPatterns loops may alternate in `all`, e.g. if each row has several segments.
std::vector<Segments> merged(const std::vector<Segments> &all, int k) {
  constexpr size_t kPatterns = 8;
  std::vector<Segments> out;
  for (const Segments &next : all) {
    bool found = false;
    for (size_t back = 1; back <= std::min(kPatterns, out.size()) && !found; ++back)
      found = continues(&out[out.size() - back], next, k);
    if (!found)
      out.push_back(next);
  }
  return out;
}

} // namespace

bool Segments::operator==(const Segments &other) const {
  return begin == other.begin && length == other.length &&
         std::equal(count, count + 2, other.count) && std::equal(step, step + 2, other.step);
}

std::vector<Segments> segmentsOf(const dpc_placement_t &placement) {
  std::vector<Segments> out;
  for (uint64_t r = 0; r < placement.run_count; ++r) {
    const dpc_run_t &run = placement.runs[r];
    if (!run.length || !run.count[0] || !run.count[1])
      continue;
    Segments each;
    each.begin = run.global, each.length = run.length;
    for (int k = 0; k < 2; ++k)
      each.count[k] = run.count[k], each.step[k] = run.count[k] > 1 ? run.global_step[k] : 0;
    out.push_back(each);
  }
  return out;
}

std::vector<Segments> compacted(const std::vector<Segments> &all) {
  std::vector<Segments> out = merged(merged(all, 1), 0);
  for (Segments &each : out) // if a segment has only the inner loop, make it the outer loop
    if (each.count[0] == 1) {
      std::swap(each.count[0], each.count[1]);
      std::swap(each.step[0], each.step[1]);
    }
  return out;
}

std::vector<Segments> segmentsOf(const std::vector<Interval> &intervals) {
  std::vector<Segments> out;
  for (const Interval &each : intervals) {
    if (!out.empty() && out.back().begin + out.back().length == each.begin) {
      out.back().length += each.end - each.begin;
      continue;
    }
    out.emplace_back();
    out.back().begin = each.begin, out.back().length = each.end - each.begin;
  }
  return compacted(out);
}

uint64_t elementsOf(const std::vector<Segments> &all) {
  uint64_t sum = 0;
  for (const Segments &each : all)
    sum += each.elements();
  return sum;
}

dpc_status_t checkCover(const std::vector<const std::vector<Segments> *> &pieces,
                        uint64_t elements) {
  uint64_t named = 0;
  for (const std::vector<Segments> *piece : pieces)
    for (const Segments &each : *piece) {
      if (!isInside(each, elements))
        return fail(DPC_INVALID, "a piece that begins at element %llu lies outside its %llu",
                    static_cast<unsigned long long>(each.begin),
                    static_cast<unsigned long long>(elements));
      uint64_t count = 0;
      if (__builtin_mul_overflow(each.length, each.count[0], &count) ||
          __builtin_mul_overflow(count, each.count[1], &count) ||
          __builtin_add_overflow(named, count, &named) || count > elements)
        return fail(DPC_INVALID, "pieces overlap: one of them alone names an element twice");
    }
  // From each element `at`, go on to the farthest end of the contiguous ranges that
  // contain this element. If this reaches the end of the tensor, the pieces have
  // every element at least once. If in addition `named` equals `elements`, they have
  // every element exactly once.
  for (uint64_t at = 0; at < elements;) {
    uint64_t end = at;
    for (const std::vector<Segments> *piece : pieces)
      for (const Segments &each : *piece)
        forEachOverlap(each, at, at + 1, [&](uint64_t, uint64_t, uint64_t position) {
          end = std::max(end, at + each.length - position % each.length);
        });
    if (end == at)
      return fail(DPC_INVALID, "no piece has element %llu of %llu",
                  static_cast<unsigned long long>(at), static_cast<unsigned long long>(elements));
    at = end;
  }
  if (named == elements)
    return DPC_OK;
  return fail(DPC_INVALID, "pieces overlap: they have %llu elements, the tensor %llu",
              static_cast<unsigned long long>(named), static_cast<unsigned long long>(elements));
}

} // namespace dpc

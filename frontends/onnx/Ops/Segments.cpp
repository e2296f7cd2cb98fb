// Reduces row ranges. Consecutive segments of one known length become a
// dimension by a reshape. Other segments are reduced by a scatter, which
// combines each row with its segment.

#include "frontends/onnx/Ops/Segments.h"

#include "frontends/onnx/Import/Constants.h"

#include <limits>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Consecutive segments with known bounds and one common length.
struct EqualLengths {
  int64_t first, length;
};

/// Rows, the segment that each row belongs to, and flags that say which rows belong to
/// a segment.
struct Places {
  Value rows;
  /// int64, in [0, number of segments), even for a row that belongs to no segment.
  Value segment;
  /// i1; null if every row belongs to a segment.
  Value belongs;
};

/// A view of rank 1: elements of `tensor`, from element `offset` on. The struct
/// does not hold their number.
struct View {
  Value tensor;
  int64_t offset;

  bool operator!=(const View &other) const {
    return tensor != other.tensor || offset != other.offset;
  }
};

std::optional<EqualLengths> equalLengths(const Segments &segments) {
  std::optional<std::vector<int64_t>> begin = knownInts(segments.begin),
                                      end = knownInts(segments.end);
  if (!begin || !end)
    return std::nullopt;
  EqualLengths equal{begin->front(), end->front() - begin->front()};
  for (size_t i = 0; i < begin->size(); ++i)
    if ((*begin)[i] != equal.first + int64_t(i) * equal.length ||
        (*end)[i] != (*begin)[i] + equal.length)
      return std::nullopt;
  return equal.length > 0 ? std::optional(equal) : std::nullopt;
}

/// `flags`, one per row, broadcast to the elements of `rows`.
Value alongRows(Conversion &c, Value flags, Value rows) {
  SmallVector<int64_t> dimensions = range(0, rankOf(flags));
  return c.e.broadcast(flags, shapeOf(rows), dimensions);
}

Value keepWhere(Conversion &c, Value flags, Value rows, double otherwise) {
  return flags ? c.e.select(alongRows(c, flags, rows), rows, c.e.splatLike(rows, otherwise)) : rows;
}

/// The rows of `value` that belong to `count` segments of equal length, as [segments,
/// length, ..].
Value apart(Conversion &c, Value value, EqualLengths equal, int64_t count) {
  Value used = c.sliceAlong(value, 0, equal.first, equal.first + count * equal.length);
  SmallVector<int64_t> shape{count, equal.length};
  llvm::append_range(shape, shapeOf(value).drop_front());
  return c.e.reshape(used, shape);
}

Value reduceEqual(Conversion &c, const Segments &segments, EqualLengths equal,
                  nn::ReduceKind kind) {
  Value rows = apart(c, segments.rows, equal, segments.count());
  Value kept = segments.kept ? apart(c, segments.kept, equal, segments.count()) : Value();
  bool isMax = kind == nn::ReduceKind::max;
  Value reduced = c.e.reduce(kind, keepWhere(c, kept, rows, isMax ? -kInfinity : 0), {1}, isMax);
  if (!kept || !isMax)
    return reduced;
  Value some = c.e.reduce(nn::ReduceKind::max, c.e.convert(kept, c.builder.getI64Type()), {1});
  return keepWhere(c, c.e.compare(nn::Comparison::ne, some, 0.0), reduced, 0);
}

/// The rows of `value` at `positions`. A null `value` gives null.
Value takeRows(Conversion &c, Value value, ArrayRef<int64_t> positions) {
  if (!value)
    return {};
  bool isRange = true;
  for (size_t i = 1; i < positions.size(); ++i)
    isRange &= positions[i] == positions[i - 1] + 1;
  if (isRange)
    return c.sliceAlong(value, 0, positions.front(), positions.back() + 1);
  return c.e.make<nn::GatherOp>(value, c.intConstant({int64_t(positions.size())}, positions),
                                int64_t(0));
}

/// The rows and segments for known bounds; `rows` is null if all segments are
/// empty.
Places knownPlaces(Conversion &c, const Segments &segments, ArrayRef<int64_t> begin,
                   ArrayRef<int64_t> end) {
  SmallVector<int64_t> positions, owners;
  for (size_t i = 0; i < begin.size(); ++i)
    for (int64_t row = begin[i]; row < end[i]; ++row) {
      positions.push_back(row);
      owners.push_back(int64_t(i));
    }
  if (positions.empty())
    return {};
  return {takeRows(c, segments.rows, positions), c.intConstant({int64_t(owners.size())}, owners),
          takeRows(c, segments.kept, positions)};
}

View viewOf(Value value) {
  View view{value, 0};
  while (true) {
    auto slice = view.tensor.getDefiningOp<nn::SliceOp>();
    auto reshape = view.tensor.getDefiningOp<nn::ReshapeOp>();
    auto gather = view.tensor.getDefiningOp<nn::GatherOp>();
    std::optional<std::vector<int64_t>> taken =
        gather && rankOf(gather.getTable()) == 1 ? knownInts(gather.getIndices()) : std::nullopt;
    if (taken && llvm::equal(*taken, range(taken->front(), taken->front() + taken->size()))) {
      view = {gather.getTable(), view.offset + taken->front()};
    } else if (slice && rankOf(slice) == 1 && slice.getStrides()[0] == 1) {
      view = {slice.getInput(), view.offset + slice.getStarts()[0]};
    } else if (reshape && (rankOf(reshape.getInput()) == 1 || rankOf(reshape) == 1)) {
      view.tensor = reshape.getInput();
    } else {
      return view;
    }
  }
}

/// The origin of element `i` of a view. Follows the element through concatenations
/// to the tensor from which it was taken.
View originOf(View view, int64_t i) {
  i += view.offset;
  while (auto concat = view.tensor.getDefiningOp<nn::ConcatOp>())
    for (Value part : concat.getInputs()) {
      const int64_t extent = nn::typeOf(part).getNumElements();
      if (i < extent) {
        View inner = viewOf(part);
        view.tensor = inner.tensor;
        i += inner.offset;
        break;
      }
      i -= extent;
    }
  return {view.tensor, i};
}

/// Element `i` of a view if it is known.
std::optional<int64_t> knownElement(View view, int64_t i) {
  View origin = originOf(view, i);
  std::optional<std::vector<int64_t>> known = knownInts(origin.tensor);
  return known ? std::optional((*known)[origin.offset]) : std::nullopt;
}

/// The ends of segments before a select that replaces only the end of the last segment.
/// Without such a select, `end` itself. All ends except the last one are equal in both.
Value exceptLast(Value end) {
  auto select = end.getDefiningOp<nn::SelectOp>();
  std::optional<std::vector<int64_t>> isLast =
      select ? knownInts(select.getCondition()) : std::nullopt;
  if (!isLast || llvm::is_contained(ArrayRef(*isLast).drop_back(), 1))
    return end;
  return select.getOnFalse();
}

/// The offsets at which segments begin, followed by the end of the last one; null
/// if a segment is not known to end where the next one begins.
Value offsetsOf(Conversion &c, const Segments &segments) {
  Value others = exceptLast(segments.end);
  View begin = viewOf(segments.begin), end = viewOf(others);
  const int64_t count = segments.count();
  for (int64_t i = 0; i + 1 < count; ++i)
    if (originOf(end, i) != originOf(begin, i + 1))
      return {};
  const bool isSlice =
      begin.tensor == end.tensor && rankOf(begin.tensor) == 1 && begin.offset + 1 == end.offset;
  if (isSlice && others == segments.end)
    return c.sliceAlong(begin.tensor, 0, begin.offset, begin.offset + count + 1);
  SmallVector<Value> parts{segments.begin, c.sliceAlong(segments.end, 0, count - 1, count)};
  return c.e.make<nn::ConcatOp>(parts, int64_t(0));
}

/// The segment of a row is one less than the number of offsets that are at most
/// the row's index. The offsets are counted with a scatter, so the program
/// requires offsets to be in [0, number of rows].
Places dataPlaces(Conversion &c, const Segments &segments) {
  Value offsets = offsetsOf(c, segments);
  if (!offsets)
    return {};
  const int64_t rows = shapeOf(segments.rows)[0];
  Type i64 = c.builder.getI64Type();
  Value ones = c.e.splat(RankedTensorType::get(shapeOf(offsets), i64), 1);
  Value begun = c.e.make<nn::ScatterAddOp>(RankedTensorType::get({rows + 1}, i64), ones,
                                           c.e.convert(offsets, i64), uint64_t(0));
  begun = c.sliceAlong(begun, 0, 0, rows);
  Value number = c.e.make<nn::CumSumOp>(begun.getType(), begun, int64_t(0), false, false);
  Value segment = c.e.add(number, -1.0);
  Value belongs =
      c.e.make<nn::AndOp>(c.e.compare(nn::Comparison::ge, segment, 0.0),
                          c.e.compare(nn::Comparison::lt, segment, double(segments.count())));
  if (segments.kept)
    belongs = c.e.make<nn::AndOp>(belongs, segments.kept);
  return {segments.rows, c.e.select(belongs, segment, c.e.splatLike(segment, 0)), belongs};
}

Value sumPlaces(Conversion &c, const Places &places, RankedTensorType type) {
  Value rows = keepWhere(c, places.belongs, places.rows, 0);
  return c.e.make<nn::ScatterAddOp>(type, rows, places.segment, uint64_t(0));
}

/// The maximum of each segment and column. The index of the row with the first maximum is
/// computed without a gradient. Then that row is gathered, so that it gets the gradient.
/// If the maximum is NaN, it equals no row, and the result is NaN.
Value maxPlaces(Conversion &c, const Places &places, RankedTensorType type) {
  const int64_t count = shapeOf(places.rows)[0];
  Value rows = c.e.make<nn::StopGradientOp>(keepWhere(c, places.belongs, places.rows, -kInfinity));
  Value tuples = c.e.reshape(places.segment, {count, 1});
  Value most = c.e.make<nn::ScatterNDOp>(type, nn::ScatterKind::max, c.e.splat(type, -kInfinity),
                                         tuples, rows, int64_t(0));
  Value wins = c.e.compare(nn::Comparison::eq, rows,
                           c.e.make<nn::GatherOp>(most, places.segment, int64_t(0)));
  auto indices = RankedTensorType::get(shapeOf(rows), c.builder.getI64Type());
  auto firsts = RankedTensorType::get(type.getShape(), c.builder.getI64Type());
  Value position = c.e.make<nn::IotaOp>(indices, int64_t(0));
  // A row that belongs to no segment is -infinity too, so it must not win.
  if (places.belongs)
    wins = c.e.make<nn::AndOp>(wins, alongRows(c, places.belongs, rows));
  position = c.e.select(wins, position, c.e.splat(indices, double(count - 1)));
  Value first =
      c.e.make<nn::ScatterNDOp>(firsts, nn::ScatterKind::min, c.e.splat(firsts, double(count - 1)),
                                tuples, position, int64_t(0));
  Value taken = c.e.make<nn::GatherElementsOp>(places.rows, first, int64_t(0));
  Value isNan =
      c.e.make<nn::IsNanOp>(RankedTensorType::get(type.getShape(), c.builder.getI1Type()), most);
  return c.e.select(isNan, most, taken);
}

/// Reduces segments of different lengths with a scatter. Returns null if the bounds are
/// neither known nor given by one tensor of offsets.
Value reducePlaces(Conversion &c, const Segments &segments, nn::ReduceKind kind) {
  SmallVector<int64_t> shape(shapeOf(segments.rows));
  shape[0] = segments.count();
  RankedTensorType type = nn::withShape(nn::typeOf(segments.rows), shape);
  std::optional<std::vector<int64_t>> begin = knownInts(segments.begin),
                                      end = knownInts(segments.end);
  const bool isKnown = begin && end;
  Places places = isKnown ? knownPlaces(c, segments, *begin, *end) : dataPlaces(c, segments);
  if (!places.rows)
    return isKnown ? c.e.splat(type, 0) : Value();
  if (kind == nn::ReduceKind::sum)
    return sumPlaces(c, places, type);
  Value most = maxPlaces(c, places, type), count = countRows(c, segments);
  std::optional<std::vector<int64_t>> known = knownInts(count);
  if (known && !llvm::is_contained(*known, 0))
    return most;
  return keepWhere(c, c.e.compare(nn::Comparison::ne, count, 0.0), most, 0);
}

} // namespace

std::optional<std::vector<int64_t>> dpc::onnx::knownInts(Value value) {
  if (!isa<IntegerType>(nn::typeOf(value).getElementType()))
    return std::nullopt;
  std::optional<HostTensor> host = evaluate(value);
  return host ? std::optional(std::move(host->ints)) : std::nullopt;
}

bool dpc::onnx::haveEqualElements(Value left, Value right) {
  auto unshaped = [](Value value) {
    while (auto reshape = value.getDefiningOp<nn::ReshapeOp>())
      value = reshape.getInput();
    return value;
  };
  if (unshaped(left) == unshaped(right))
    return true;
  std::optional<std::vector<int64_t>> known = knownInts(left);
  return known && known == knownInts(right);
}

Value dpc::onnx::selectBound(Conversion &c, Value mask, Value left, Value right) {
  std::optional<std::vector<int64_t>> holds = knownInts(mask);
  View kept = viewOf(left), others = viewOf(right);
  bool isRight = holds.has_value();
  for (size_t i = 0; isRight && i < holds->size(); ++i)
    if ((*holds)[i])
      isRight = knownElement(kept, int64_t(i)) &&
                knownElement(kept, int64_t(i)) == knownElement(others, int64_t(i));
  return isRight || haveEqualElements(left, right) ? right : c.e.select(mask, left, right);
}

Value dpc::onnx::takeOffsets(Conversion &c, Value offsets, int64_t first, int64_t count) {
  return c.e.make<nn::GatherOp>(offsets, c.intConstant({count}, range(first, first + count)),
                                int64_t(0));
}

bool dpc::onnx::haveEqualBounds(const Segments &left, const Segments &right) {
  return left.kept == right.kept && haveEqualElements(left.begin, right.begin) &&
         haveEqualElements(left.end, right.end);
}

Value dpc::onnx::countRows(Conversion &c, const Segments &segments) {
  if (!segments.kept)
    return c.e.make<nn::MaxOp>(c.e.sub(segments.end, segments.begin),
                               c.e.splatLike(segments.begin, 0));
  Value ones = c.e.convert(segments.kept, c.builder.getI64Type());
  return reduceSegments(c, {ones, segments.begin, segments.end, segments.kept},
                        nn::ReduceKind::sum);
}

Value dpc::onnx::reduceSegments(Conversion &c, const Segments &segments, nn::ReduceKind kind) {
  if (std::optional<EqualLengths> equal = equalLengths(segments))
    return reduceEqual(c, segments, *equal, kind);
  return reducePlaces(c, segments, kind);
}

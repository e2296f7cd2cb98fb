// Imports ONNX attention and rotary embedding.
//
// The formulas are those of the function bodies in the ONNX operator schemas.

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Ops/SafeSoftmax.h"

#include <cmath>

using namespace mlir;
using namespace dpc;
using namespace dpc::onnx;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Reshapes [B, T, heads * d] and transposes the result to [B, heads, T, d].
Value splitHeads(Conversion &c, Value x, int64_t heads) {
  ArrayRef<int64_t> s = shapeOf(x);
  return c.e.transpose(c.e.reshape(x, {s[0], s[1], heads, s[2] / heads}), {0, 2, 1, 3});
}

/// Repeats grouped key and value heads for the query heads that share them.
Value repeatHeads(Conversion &c, Value x, int64_t times) {
  ArrayRef<int64_t> s = shapeOf(x);
  if (times == 1)
    return x;
  return c.e.reshape(c.e.broadcast(x, {s[0], s[1], times, s[2], s[3]}, {0, 1, 3, 4}),
                     {s[0], s[1] * times, s[2], s[3]});
}

/// Q, K, V as [B, heads, T, d].
struct Heads {
  Value q, k, v;
  bool packed = false;
};

std::optional<Heads> readHeads(Conversion &c) {
  Heads heads{c.operand(0), c.operand(1), c.operand(2)};
  heads.packed = rankOf(heads.q) == 3;
  if (rankOf(heads.q) != rankOf(heads.k) || rankOf(heads.q) != rankOf(heads.v) ||
      (!heads.packed && rankOf(heads.q) != 4)) {
    (void)c.error("Q, K and V must all have rank 3 or all have rank 4");
    return std::nullopt;
  }
  if (!heads.packed)
    return heads;
  int64_t queries = c.requiredInt("q_num_heads"), groups = c.requiredInt("kv_num_heads");
  if (c.failed)
    return std::nullopt;
  if (queries < 1 || groups < 1 || shapeOf(heads.q)[2] % queries || shapeOf(heads.k)[2] % groups ||
      shapeOf(heads.v)[2] % groups) {
    (void)c.error("heads do not divide the last dimension of Q, K or V");
    return std::nullopt;
  }
  heads.q = splitHeads(c, heads.q, queries);
  heads.k = splitHeads(c, heads.k, groups);
  heads.v = splitHeads(c, heads.v, groups);
  return heads;
}

/// The keys or values of earlier positions (operand `past`) followed by `now`. Just `now`
/// if the node has no such operand.
Value appendToPast(Conversion &c, unsigned past, Value now) {
  if (!c.has(past))
    return now;
  Value before = c.operand(past);
  SmallVector<int64_t> expected(shapeOf(now));
  if (rankOf(before) == 4)
    expected[2] = shapeOf(before)[2];
  if (shapeOf(before) != ArrayRef<int64_t>(expected) ||
      nn::typeOf(before).getElementType() != nn::typeOf(now).getElementType()) {
    (void)c.error("input " + Twine(past) + " has shape " + printed(shapeOf(before)) +
                  ", which does not continue " + printed(shapeOf(now)));
    return {};
  }
  if (shapeOf(before)[2] == 0)
    return now;
  return c.e.make<nn::ConcatOp>(ValueRange{before, now}, int64_t(2));
}

/// Adds the mask of operand 3 to `scores`; false in a boolean mask adds -infinity.
/// A mask with fewer keys than `scores` hides the last keys, except that a mask
/// with one key is broadcast.
Value applyMask(Conversion &c, Value scores) {
  Value mask = c.operand(3);
  Type element = nn::typeOf(mask).getElementType();
  bool isBool = element.isInteger(1);
  int64_t keys = shapeOf(scores)[3], given = rankOf(mask) ? shapeOf(mask).back() : 1;
  if (given < keys && given != 1) {
    SmallVector<int64_t> low(rankOf(mask), 0), high(rankOf(mask), 0), interior(rankOf(mask), 0);
    high.back() = keys - given;
    Value hidden = c.e.splat(RankedTensorType::get({}, element), isBool ? 0 : -kInfinity);
    mask = c.e.make<nn::PadOp>(mask, hidden, low, high, interior);
  }
  mask = c.broadcastTo(mask, shapeOf(scores));
  if (!mask)
    return {};
  return isBool ? c.e.select(mask, scores, c.e.splatLike(scores, -kInfinity))
                : c.e.add(scores, c.e.convert(mask, nn::typeOf(scores).getElementType()));
}

/// The scores of visible keys, and -infinity for all other keys. If `causal`, row i sees
/// key j if j <= i + `past`. If the node has operand 6, a row sees key j if j is below
/// the number of keys of its sample. If both apply, the last row sees the last key of its
/// sample: j <= i + keys of the sample - rows.
Value hideKeys(Conversion &c, Value scores, bool causal, int64_t past) {
  auto index = RankedTensorType::get(shapeOf(scores), c.builder.getI64Type());
  Value column = c.e.make<nn::IotaOp>(index, int64_t(3));
  auto hide = [&](Value visible) {
    scores = c.e.select(visible, scores, c.e.splatLike(scores, -kInfinity));
  };
  Value row = causal ? Value(c.e.make<nn::IotaOp>(index, int64_t(2))) : Value();
  if (causal && !c.has(6))
    hide(c.e.compare(nn::Comparison::le, column, past ? c.e.add(row, double(past)) : row));
  if (c.has(6)) {
    Value counts = c.e.convert(c.operand(6), c.builder.getI64Type());
    if (shapeOf(counts) != ArrayRef<int64_t>{shapeOf(scores)[0]}) {
      (void)c.error("nonpad_kv_seqlen has shape " + printed(shapeOf(counts)) + " but must have [" +
                    Twine(shapeOf(scores)[0]) + "]");
      return {};
    }
    Value end = c.e.broadcast(counts, shapeOf(scores), {0});
    if (causal)
      end = c.e.add(end, c.e.add(row, double(1 - shapeOf(scores)[2])));
    hide(c.e.compare(nn::Comparison::lt, column, end));
  }
  return scores;
}

/// The softmax of the scores. In a row whose keys are all hidden, the result is 0.
Value weigh(Conversion &c, Value scores) {
  // With `is_causal` alone every row sees at least one key.
  const bool mayHideRows = c.has(3) || c.has(6);
  return mayHideRows ? safeSoftmax(c, scores, 3)
                     : c.e.make<nn::SoftmaxOp>(scores.getType(), scores, int64_t(3));
}

/// Computes softmax(softcap(q k^T scale) + mask) v. Result 3 has the scores at one of
/// four stages: raw (0), capped (1), masked (2), normalised (3).
LogicalResult convertAttention(Conversion &c) {
  std::optional<Heads> heads = readHeads(c);
  if (!heads)
    return failure();
  if (c.has(4) != c.has(5))
    return c.error("past_key and past_value must be given together");
  Value q = heads->q, k = appendToPast(c, 4, heads->k), v = appendToPast(c, 5, heads->v);
  if (!k || !v)
    return failure();
  ArrayRef<int64_t> qs = shapeOf(q), ks = shapeOf(k), vs = shapeOf(v);
  if (ks[1] < 1 || qs[1] % ks[1] || ks[1] != vs[1] || qs[0] != ks[0] || qs[0] != vs[0] ||
      ks[2] != vs[2] || qs[3] != ks[3])
    return c.error("Q " + printed(qs) + ", K " + printed(ks) + " and V " + printed(vs) +
                   " do not match");
  c.setResult(1, k);
  c.setResult(2, v);
  int64_t past = ks[2] - shapeOf(heads->k)[2], times = qs[1] / ks[1];
  k = repeatHeads(c, k, times);
  // V may have another type; the result has the type of Q.
  v = c.e.convert(repeatHeads(c, v, times), nn::typeOf(q).getElementType());
  double scale = c.floatAttr("scale", 1 / std::sqrt(double(qs[3]))),
         softcap = c.floatAttr("softcap");
  int64_t reported = c.intAttr("qk_matmul_output_mode");
  Value stages[4];
  Value scores = c.e.dot(q, k, {0, 1}, {0, 1}, {3}, {3});
  scores = c.e.mul(scores, c.exactLike(scores, scale));
  stages[0] = scores;
  if (softcap > 0)
    scores =
        c.e.mul(c.e.make<nn::TanhOp>(c.e.div(scores, c.e.splatLike(scores, softcap))), softcap);
  stages[1] = scores;
  if (c.has(3))
    scores = applyMask(c, scores);
  if (scores)
    scores = hideKeys(c, scores, c.intAttr("is_causal"), past);
  if (!scores || c.failed)
    return failure();
  stages[2] = scores;
  Value weights = weigh(c, scores);
  stages[3] = weights;
  if (reported < 0 || reported > 3)
    return c.error("qk_matmul_output_mode is " + Twine(reported) + " but must be 0 to 3");
  c.setResult(3, stages[reported]);
  Value result = c.e.dot(weights, v, {0, 1}, {0, 1}, {3}, {2});
  if (heads->packed) {
    ArrayRef<int64_t> s = shapeOf(result);
    result = c.e.reshape(c.e.transpose(result, {0, 2, 1, 3}), {s[0], s[2], s[1] * s[3]});
  }
  return c.done(result);
}

/// The rows of operand `i`, a table of cosines or sines: one row for each position, as
/// [B, T, half].
Value rotaryAngles(Conversion &c, unsigned i, int64_t batch, int64_t length, int64_t half) {
  Value table = c.operand(i);
  if (c.has(3)) {
    Value positions = c.operand(3);
    if (rankOf(table) == 2 && shapeOf(positions) == ArrayRef<int64_t>{batch, length})
      table = c.e.make<nn::GatherOp>(table, positions, int64_t(0));
  }
  if (shapeOf(table) == ArrayRef<int64_t>{batch, length, half})
    return table;
  (void)c.error("input " + Twine(i) + " has shape " + printed(shapeOf(c.operand(i))) +
                " but must give " + printed({batch, length, half}) +
                (c.has(3) ? " at position_ids" : " without position_ids"));
  return {};
}

/// Rotates pairs (a, b) of elements of each head to (a cos - b sin, a sin + b
/// cos). If rotary_embedding_dim is not 0, only so many elements at the start of a
/// head form pairs. With `interleaved`, a and b are neighbours; otherwise a is in
/// the first half of these elements and b in the second.
LogicalResult convertRotaryEmbedding(Conversion &c) {
  Value x = c.operand(0);
  SmallVector<int64_t> whole(shapeOf(x));
  bool packed = rankOf(x) == 3, interleaved = c.intAttr("interleaved");
  int64_t heads = c.intAttr("num_heads"), rotated = c.intAttr("rotary_embedding_dim");
  if (c.failed)
    return failure();
  if (packed) {
    if (heads < 1 || whole[2] % heads)
      return c.error("num_heads " + Twine(heads) + " does not divide the last dimension of " +
                     printed(whole));
    x = c.e.reshape(x, {whole[0], whole[1], heads, whole[2] / heads});
  } else if (rankOf(x) != 4) {
    return c.error("input has rank " + Twine(rankOf(x)) + " but must have 3 or 4");
  }
  // The shape of x is [B, T, heads, d] if `packed`, else [B, heads, T, d].
  SmallVector<int64_t> shape(shapeOf(x));
  int64_t batch = shape[0], length = packed ? shape[1] : shape[2], width = shape[3];
  if (rotated == 0)
    rotated = width;
  if (rotated < 0 || rotated > width || rotated % 2)
    return c.error("rotary_embedding_dim " + Twine(rotated) + " must be even and at most " +
                   Twine(width));
  int64_t half = rotated / 2;
  SmallVector<int64_t> halfShape(shape);
  halfShape[3] = half;
  auto angles = [&](unsigned i) -> Value {
    Value table = rotaryAngles(c, i, batch, length, half);
    return table ? c.e.broadcast(table, halfShape, {0, packed ? 1 : 2, 3}) : Value();
  };
  Value cosine = angles(1), sine = cosine ? angles(2) : Value();
  if (!cosine || !sine)
    return failure();
  Value turned = c.sliceAlong(x, 3, 0, rotated), first, second;
  SmallVector<int64_t> pairs(halfShape);
  pairs.push_back(1);
  if (interleaved) {
    pairs.back() = 2;
    Value paired = c.e.reshape(turned, pairs);
    first = c.e.reshape(c.sliceAlong(paired, 4, 0, 1), halfShape);
    second = c.e.reshape(c.sliceAlong(paired, 4, 1, 2), halfShape);
    pairs.back() = 1;
  } else {
    first = c.sliceAlong(turned, 3, 0, half);
    second = c.sliceAlong(turned, 3, half, rotated);
  }
  Value real = c.e.sub(c.e.mul(cosine, first), c.e.mul(sine, second)),
        imaginary = c.e.add(c.e.mul(sine, first), c.e.mul(cosine, second));
  SmallVector<Value> parts{real, imaginary};
  if (interleaved) {
    SmallVector<int64_t> turnedShape(shape);
    turnedShape[3] = rotated;
    Value paired = c.e.make<nn::ConcatOp>(
        ValueRange{c.e.reshape(real, pairs), c.e.reshape(imaginary, pairs)}, int64_t(4));
    parts = {c.e.reshape(paired, turnedShape)};
  }
  if (rotated < width)
    parts.push_back(c.sliceAlong(x, 3, rotated, width));
  Value result = parts.size() == 1 ? parts[0] : Value(c.e.make<nn::ConcatOp>(parts, int64_t(3)));
  return c.done(c.e.reshape(result, whole));
}

} // namespace

void dpc::onnx::registerAttentionOps(Registry &registry) {
  registry.add("Attention", convertAttention);
  registry.add("RotaryEmbedding", convertRotaryEmbedding);
}

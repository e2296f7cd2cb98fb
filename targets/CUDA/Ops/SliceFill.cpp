// Emits the code that fills slices of a factor in shared memory.

#include "targets/CUDA/Ops/SliceFill.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace dpc;

using Index = LoopEmitter::Index;
using Values = LoopEmitter::Values;

/// The least number of bytes that cp.async copies.
static const int64_t kLeastCopy = 4;

SliceFill::SliceFill(GridEmitter &emitter, const SliceElements &form, const Slice &slice,
                     const TileFactor &factor, Index thread, int64_t depth, int64_t threads)
    : e(emitter), form(form), slice(slice), factor(factor), thread(thread), depth(depth),
      threads(threads) {
  chooseWay();
}

/// Chooses how the slice is filled, and the number of elements of a piece. A chunk is the
/// largest piece. It has neighbours in memory.
void SliceFill::chooseWay() {
  Value tensor = factor.at(e.constant(0), e.constant(0)).tensor;
  const SliceLayout &layout = slice.layout;
  const bool hasLines = layout.depthIsInner == factor.depthIsInner;
  hasRuns = hasLines && factor.run > 0 && factor.run % layout.getChunkElements() == 0 &&
            nn::typeOf(tensor).getElementTypeBitWidth() == layout.bytes * 8;
  if (!e.isInMemory(tensor)) {
    way = Way::computations;
    hasRuns = false;
  } else if (form.holdsFactors() && (hasRuns || layout.bytes >= kLeastCopy)) {
    way = Way::copies;
  } else {
    way = Way::loads;
  }
  if (hasRuns)
    elements = layout.getChunkElements();
  else if (way == Way::loads && hasLines)
    // Threads store words of shared memory.
    elements = std::max<int64_t>(1, kLeastCopy / layout.bytes);
}

/// The place of piece `number`. Neighbouring threads have neighbouring pieces in memory.
SliceFill::Place SliceFill::placeOf(Index number) const {
  const SliceLayout &layout = slice.layout;
  const int64_t pieces = countPieces();
  Place place;
  if (!e.isInRange(number, 0, pieces)) {
    place.exists = e.inRange(number, 0, pieces);
    number = e.bind(e.materialize(number), 0, pieces - 1);
  }
  if (layout.depthIsInner == factor.depthIsInner) {
    const int64_t inLine = layout.getLineElements() / elements;
    Index line = e.floorDiv(number, inLine), inner = e.mod(number, inLine) * elements;
    place.k = layout.depthIsInner ? inner : line;
    place.i = layout.depthIsInner ? line : inner;
    return place;
  }
  // The slice is transposed: a warp stores pieces of 8 neighbours in memory from 4 lines of
  // the memory. The layout puts these 32 elements in different banks.
  const int64_t kInner = 8, kOuter = 4;
  const int64_t inners = (layout.depthIsInner ? layout.extent : layout.depth) / kInner;
  Index low = e.mod(number, kInner), rest = e.floorDiv(number, kInner * kOuter);
  Index inner = low + e.mod(rest, inners) * kInner,
        outer = e.mod(e.floorDiv(number, kInner), kOuter) + e.floorDiv(rest, inners) * kOuter;
  place.k = factor.depthIsInner ? inner : outer;
  place.i = factor.depthIsInner ? outer : inner;
  return place;
}

/// The place of a thread's piece number `round`. If lines are long, a thread has pieces of one line
/// in all rounds, so that their addresses in memory differ by few bytes, and the code computes one
/// of them. Neighbouring threads have whole lines of memory all the same.
SliceFill::Place SliceFill::placeInRound(int64_t round) const {
  const int64_t kMemoryLine = 128;
  const SliceLayout &layout = slice.layout;
  const int64_t pieces = countPieces(), rounds = pieces / threads,
                inLine = layout.getLineElements() / elements;
  if (layout.depthIsInner || !hasRuns || pieces % threads != 0)
    return placeOf(thread + round * threads);
  const int64_t wide = inLine / rounds;
  if (inLine % rounds == 0 && wide * elements * layout.bytes >= kMemoryLine) {
    Place place;
    place.k = e.floorDiv(thread, wide);
    place.i = (e.mod(thread, wide) + round * wide) * elements;
    place.aheadI = round * wide * elements;
    return place;
  }
  return placeOf(thread + round * threads);
}

Value SliceFill::pointerTo(Value offset, const Place &place) const {
  return slice.pointerTo(offset, slice.addressOf(place.k - place.aheadK, place.i - place.aheadI),
                         place.aheadK, place.aheadI);
}

/// Whether the element is needed and is one of the factor. The element is `ahead` elements
/// after the first one of its piece.
Value SliceFill::isInFactor(const Place &place, Index first, Value isNeeded, int64_t ahead) const {
  Index k = first + place.k, i = factor.first + place.i;
  (slice.layout.depthIsInner ? k : i) = (slice.layout.depthIsInner ? k : i) + ahead;
  return e.both(e.both(isNeeded, place.exists),
                e.both(e.inRange(i, 0, factor.extent), e.inRange(k, 0, depth)));
}

/// Moves a piece that begins after the last rows or columns of the factor to these, so that its
/// loads need no condition.
void SliceFill::moveInside(Place &place) const {
  const Index i = factor.first + place.i;
  const int64_t last = factor.extent - (slice.layout.depthIsInner ? 1 : elements);
  if (e.isInRange(i, 0, last + 1))
    return;
  Value inside = e.make<arith::MinSIOp>(e.materialize(i), e.materialize(e.constant(last)));
  place.i = e.bind(inside, 0, last) - factor.first;
}

/// The index of an element of the factor. It is only right if isInFactor holds.
FactorElement SliceFill::elementAt(const Place &place, Index first, int64_t ahead) const {
  Index k = first + place.k, i = factor.first + place.i;
  (slice.layout.depthIsInner ? k : i) = (slice.layout.depthIsInner ? k : i) + ahead;
  auto bounded = [&](Index index, int64_t extent) {
    return e.isInRange(index, 0, extent) ? index : e.bind(e.materialize(index), 0, extent - 1);
  };
  return factor.at(bounded(i, factor.extent), bounded(k, depth));
}

//===----------------------------------------------------------------------===//
// The ways
//===----------------------------------------------------------------------===//

/// A pointer without its constant term, and this term in bytes.
static std::pair<Value, int64_t> splitPointer(Value pointer) {
  auto moved = pointer.getDefiningOp<LLVM::GEPOp>();
  if (!moved || moved.getDynamicIndices().size() != 1)
    return {pointer, 0};
  std::optional<int64_t> elements = getConstantIntValue(moved.getDynamicIndices()[0]);
  if (!elements)
    return {pointer, 0};
  return {moved.getBase(), *elements * moved.getElemType().getIntOrFloatBitWidth() / 8};
}

/// Copies a piece. If it is not in the factor, cp.async stores zeros: a predicate tells it so,
/// which takes fewer instructions than a number of bytes. LLVM's intrinsics have no such operand,
/// and addresses without a constant term.
void SliceFill::copy(const Place &place, Index first, Value isNeeded) {
  const int64_t bytes = elements * slice.layout.bytes;
  FactorElement element = elementAt(place, first, 0);
  Value isThere = e.both(isInFactor(place, first, isNeeded, 0), element.isThere);
  const auto [to, toAhead] = splitPointer(pointerTo(stageOffset, place));
  const auto [from, fromAhead] =
      splitPointer(e.globalAddressOf(element.tensor, element.index.number()));
  SmallVector<Value> arguments{to, from};
  std::string code = llvm::formatv("cp.async.{0}.shared.global [$0+{1}], [$1+{2}], {3}",
                                   bytes == SliceLayout::kChunk ? "cg" : "ca", toAhead, fromAhead,
                                   bytes),
              operands = "l,l";
  if (isThere) {
    Value holds = e.make<arith::ConstantOp>(e.builder.getBoolAttr(true));
    arguments.push_back(e.make<arith::XOrIOp>(isThere, holds));
    code += ", $2";
    operands += ",b";
  }
  auto emit = [&] {
    e.make<LLVM::InlineAsmOp>(TypeRange(), arguments, code + ";", operands,
                              /*has_side_effects=*/true, /*is_align_stack=*/false,
                              LLVM::AsmDialectAttr(), ArrayAttr());
  };
  // A thread without a piece must not store zeros.
  place.exists ? e.when(place.exists, emit) : emit();
}

/// Loads a piece: a vector if it has several elements. Elements that are not there are 0.
Value SliceFill::load(Place place, Index first, Value isNeeded) {
  if (hasRuns && factor.hasOpenEnd)
    moveInside(place);
  auto loadIf = [&](int64_t ahead, Type type, unsigned alignment) {
    FactorElement element = elementAt(place, first, ahead);
    Value isThere = e.both(isInFactor(place, first, isNeeded, ahead), element.isThere);
    return e.branch(
        isThere,
        [&]() -> Value {
          Value address = e.globalAddressOf(element.tensor, element.index.number());
          return e.make<LLVM::LoadOp>(type, address, alignment);
        },
        [&]() -> Value { return e.make<LLVM::ZeroOp>(type); });
  };
  Type memoryType = nn::typeOf(elementAt(place, first, 0).tensor).getElementType();
  if (elements == 1)
    return form.prepare(loadIf(0, memoryType, 0));
  auto vectorType = VectorType::get({elements}, slice.type);
  auto number = [&](int64_t n) { return e.materialize(e.constant(n)); };
  Value vector;
  if (hasRuns) {
    vector = loadIf(0, vectorType, SliceLayout::kChunk);
  } else {
    vector = e.make<LLVM::UndefOp>(vectorType);
    for (int64_t n = 0; n < elements; ++n)
      vector = e.make<LLVM::InsertElementOp>(vector, loadIf(n, memoryType, 0), number(n));
  }
  if (form.holdsFactors())
    return vector;
  for (int64_t n = 0; n < elements; ++n) {
    Value element = form.prepare(e.make<LLVM::ExtractElementOp>(vector, number(n)));
    vector = e.make<LLVM::InsertElementOp>(vector, element, number(n));
  }
  return vector;
}

/// Computes and stores all elements of the slice.
void SliceFill::compute(Index first, Value isNeeded) {
  e.forEach({countPieces()}, [&](ArrayRef<Index> at) {
    const Place place = placeOf(at[0]);
    Value element = e.branch(
        isInFactor(place, first, isNeeded, 0),
        [&] {
          FactorElement wanted = elementAt(place, first, 0);
          return e.branch(
              wanted.isThere, [&] { return form.prepare(e.read(wanted.tensor, wanted.index)); },
              [&] { return e.constantLike(slice.type, 0); });
        },
        [&] { return e.constantLike(slice.type, 0); });
    slice.storeAt(element, stageOffset, slice.addressOf(place.k, place.i));
  });
}

void SliceFill::begin(Value stage, Index k, Value isNeeded) {
  stageOffset = stage ? slice.offsetOfStage(stage) : Value();
  if (way == Way::computations)
    return compute(k, isNeeded);
  loaded.clear();
  forEachPlace([&](const Place &place) {
    if (isCopied())
      copy(place, k, isNeeded);
    else
      loaded.push_back({place, load(place, k, isNeeded)});
  });
}

/// Emits `body` for each piece of this thread.
void SliceFill::forEachPlace(function_ref<void(const Place &)> body) {
  const auto rounds = static_cast<int64_t>(llvm::divideCeil(countPieces(), threads));
  e.alone(nullptr, [&] {
    for (int64_t round = 0; round < rounds; ++round)
      body(placeInRound(round));
  });
}

void SliceFill::readAgain(Index newThread) {
  thread = newThread;
  if (factor.readFirstAgain)
    factor.first = factor.readFirstAgain();
}

void SliceFill::round(Value stage) {
  if (!isCopied() || !form.roundsCopies())
    return;
  Value offset = stage ? slice.offsetOfStage(stage) : Value();
  auto number = [&](int64_t n) { return e.materialize(e.constant(n)); };
  forEachPlace([&](const Place &place) {
    auto emit = [&] {
      const Slice::Address address = slice.addressOf(place.k, place.i);
      Value piece = slice.loadVector(elements, offset, address);
      for (int64_t n = 0; n < elements; ++n) {
        Value rounded = form.round(e.make<LLVM::ExtractElementOp>(piece, number(n)));
        piece = e.make<LLVM::InsertElementOp>(piece, rounded, number(n));
      }
      slice.storeAt(piece, offset, address);
    };
    place.exists ? e.when(place.exists, emit) : emit();
  });
}

void SliceFill::end() {
  for (const auto &[place, element] : loaded) {
    auto store = [&, &place = place, &element = element] {
      slice.storeAt(element, stageOffset,
                    slice.addressOf(place.k - place.aheadK, place.i - place.aheadI), place.aheadK,
                    place.aheadI);
    };
    place.exists ? e.when(place.exists, store) : store();
  }
  loaded.clear();
}

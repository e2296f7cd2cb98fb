// Computes a tensor of the file from a parameter, and finds the steps from one to
// the other.

#include "frontends/onnx/Restore/Derivation.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <cstring>
#include <numeric>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace dpc::onnx {
namespace {

using Kind = DerivationStep::Kind;

int64_t product(ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<int64_t>());
}

SmallVector<int64_t> stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

/// The tensor of shape `shape` whose element [i, j, ..] is element i * strides[0]
/// + j * strides[1] + .. of `from`.
Tensor gatherStrided(const Tensor &from, ArrayRef<int64_t> shape, ArrayRef<int64_t> strides) {
  size_t bytes = elementBytes(from.type);
  std::vector<char> to(product(shape) * bytes);
  SmallVector<int64_t> at(shape.size(), 0);
  int64_t source = 0;
  for (size_t offset = 0; offset < to.size(); offset += bytes) {
    std::memcpy(&to[offset], from.bytes.data() + source * bytes, bytes);
    for (size_t d = shape.size(); d-- > 0;) {
      source += strides[d];
      if (++at[d] < shape[d])
        break;
      source -= strides[d] * shape[d];
      at[d] = 0;
    }
  }
  return makeTensor(from.type, shape, std::move(to));
}

bool isPermutation(ArrayRef<int64_t> dims, size_t rank) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  return dims.size() == rank &&
         std::equal(sorted.begin(), sorted.end(), llvm::seq<int64_t>(0, rank).begin());
}

template <typename T> Tensor plus(const Tensor &tensor, double addend) {
  std::vector<char> bytes(tensor.bytes.size());
  for (auto [i, element] : llvm::enumerate(tensor.as<T>())) {
    T sum = element + static_cast<T>(addend);
    std::memcpy(&bytes[i * sizeof(T)], &sum, sizeof(T));
  }
  return makeTensor(tensor.type, tensor.shape, std::move(bytes));
}

std::optional<Tensor> deriveStep(const Tensor &tensor, const DerivationStep &step) {
  size_t rank = tensor.shape.size();
  switch (step.kind) {
  case Kind::Transpose: {
    if (!isPermutation(step.dims, rank))
      return std::nullopt;
    SmallVector<int64_t> strides = stridesOf(tensor.shape), shape, moved;
    for (int64_t dim : step.dims) {
      shape.push_back(tensor.shape[dim]);
      moved.push_back(strides[dim]);
    }
    return gatherStrided(tensor, shape, moved);
  }
  case Kind::Reshape: {
    if (product(step.dims) != tensor.numElements())
      return std::nullopt;
    Tensor result = tensor;
    result.shape.assign(step.dims.begin(), step.dims.end());
    return result;
  }
  case Kind::Expand: {
    if (step.dims.size() != rank)
      return std::nullopt;
    SmallVector<int64_t> strides = stridesOf(tensor.shape);
    for (size_t d = 0; d < rank; ++d) {
      if (tensor.shape[d] != step.dims[d] && tensor.shape[d] != 1)
        return std::nullopt;
      if (tensor.shape[d] == 1)
        strides[d] = 0;
    }
    return gatherStrided(tensor, step.dims, strides);
  }
  case Kind::Gather: {
    if (rank == 0 || product(step.dims) != int64_t(step.indices.size()))
      return std::nullopt;
    size_t row = tensor.shape[0] ? tensor.bytes.size() / tensor.shape[0] : 0;
    std::vector<char> bytes(row * step.indices.size());
    for (auto [i, index] : llvm::enumerate(step.indices)) {
      if (index < 0 || index >= tensor.shape[0])
        return std::nullopt;
      std::memcpy(bytes.data() + i * row, tensor.bytes.data() + index * row, row);
    }
    auto shape = llvm::to_vector<6>(step.dims);
    shape.append(tensor.shape.begin() + 1, tensor.shape.end());
    return makeTensor(tensor.type, shape, std::move(bytes));
  }
  case Kind::Slice: {
    if (rank == 0 || step.dims.size() != 2 || step.dims[0] < 0 || step.dims[0] > step.dims[1] ||
        step.dims[1] > tensor.shape[0])
      return std::nullopt;
    size_t row = tensor.shape[0] ? tensor.bytes.size() / tensor.shape[0] : 0;
    auto shape = llvm::to_vector<6>(tensor.shape);
    shape[0] = step.dims[1] - step.dims[0];
    return makeTensor(
        tensor.type, shape,
        {tensor.bytes.begin() + step.dims[0] * row, tensor.bytes.begin() + step.dims[1] * row});
  }
  case Kind::Add:
    if (tensor.type == ElementType::F32)
      return plus<float>(tensor, step.addend);
    if (tensor.type == ElementType::F64)
      return plus<double>(tensor, step.addend);
    return std::nullopt;
  }
  return std::nullopt;
}

DerivationStep step(Kind kind, ArrayRef<int64_t> dims) {
  return {kind, SmallVector<int64_t, 4>(dims), {}, 0};
}

/// The permutation that makes `value` from `parameter`, for two to four dimensions.
std::optional<Derivation> findTranspose(const Tensor &parameter, const Tensor &value) {
  size_t rank = parameter.shape.size();
  if (rank < 2 || rank > 4 || value.shape.size() != rank)
    return std::nullopt;
  auto permutation = llvm::to_vector<6>(llvm::seq<int64_t>(0, rank));
  while (std::next_permutation(permutation.begin(), permutation.end())) {
    bool fits = llvm::all_of(llvm::enumerate(permutation), [&](auto entry) {
      return parameter.shape[entry.value()] == value.shape[entry.index()];
    });
    if (!fits)
      continue;
    Derivation steps = {step(Kind::Transpose, permutation)};
    if (isSame(*derive(parameter, steps), value))
      return steps;
  }
  return std::nullopt;
}

std::optional<Derivation> findExpand(const Tensor &parameter, const Tensor &value) {
  Derivation steps;
  if (parameter.shape.size() < value.shape.size()) {
    SmallVector<int64_t> shape(value.shape.size() - parameter.shape.size(), 1);
    shape.append(parameter.shape.begin(), parameter.shape.end());
    steps.push_back(step(Kind::Reshape, shape));
  }
  steps.push_back(step(Kind::Expand, value.shape));
  std::optional<Tensor> made = derive(parameter, steps);
  if (made && isSame(*made, value))
    return steps;
  return std::nullopt;
}

/// The step that takes the rows of `value` out of `parameter`; nullopt if `value` has
/// other rows. The rows of `parameter` must be distinct.
std::optional<Derivation> findRows(const Tensor &parameter, const Tensor &value) {
  size_t rowDims = parameter.shape.size() - 1;
  if (parameter.shape.size() < 2 || value.shape.size() < rowDims ||
      ArrayRef<int64_t>(value.shape).take_back(rowDims) !=
          ArrayRef<int64_t>(parameter.shape).drop_front())
    return std::nullopt;
  size_t row =
      product(ArrayRef<int64_t>(parameter.shape).drop_front()) * elementBytes(parameter.type);
  if (row == 0)
    return std::nullopt;
  llvm::StringMap<int64_t> places;
  for (int64_t i = 0; i < parameter.shape[0]; ++i)
    if (!places.try_emplace(StringRef(parameter.bytes.data() + i * row, row), i).second)
      return std::nullopt; // two rows are equal: which one was looked up is unknown
  DerivationStep gather = step(Kind::Gather, ArrayRef<int64_t>(value.shape).drop_back(rowDims));
  for (size_t at = 0; at < value.bytes.size(); at += row) {
    auto found = places.find(StringRef(value.bytes.data() + at, row));
    if (found == places.end())
      return std::nullopt;
    gather.indices.push_back(found->second);
  }
  return Derivation{gather};
}

/// The step that adds one number to every element of `parameter` and so gives
/// `value`. nullopt if there is no such number.
std::optional<Derivation> findAddend(const Tensor &parameter, const Tensor &value) {
  if (parameter.shape != value.shape || parameter.numElements() == 0)
    return std::nullopt;
  // Because the sum is rounded, the difference is taken at the element of
  // `parameter` with the smallest magnitude: there the sum keeps the most bits of
  // the added number.
  int64_t best = 0;
  for (int64_t i = 0; i < parameter.numElements(); ++i)
    if (std::abs(parameter.asDouble(i)) < std::abs(parameter.asDouble(best)))
      best = i;
  double difference = value.asDouble(best) - parameter.asDouble(best);
  for (double addend : {std::round(difference), difference}) {
    DerivationStep add = step(Kind::Add, {});
    add.addend = addend;
    std::optional<Tensor> made = derive(parameter, {add});
    if (addend != 0 && made && isSame(*made, value))
      return Derivation{add};
  }
  return std::nullopt;
}

/// True when `tensor` does not change along dimension `dim`.
bool isConstantAlong(const Tensor &tensor, size_t dim) {
  SmallVector<int64_t> strides = stridesOf(tensor.shape);
  size_t bytes = elementBytes(tensor.type);
  int64_t inner = strides[dim], extent = tensor.shape[dim];
  for (int64_t i = 0, n = tensor.numElements(); i < n; ++i) {
    int64_t place = i / inner % extent;
    if (place && std::memcmp(tensor.bytes.data() + i * bytes,
                             tensor.bytes.data() + (i - place * inner) * bytes, bytes) != 0)
      return false;
  }
  return true;
}

} // namespace

std::optional<Tensor> derive(const Tensor &tensor, ArrayRef<DerivationStep> steps) {
  std::optional<Tensor> result = tensor;
  for (const DerivationStep &each : steps)
    if (!(result = deriveStep(*result, each)))
      return std::nullopt;
  return result;
}

std::string describe(ArrayRef<DerivationStep> steps) {
  std::string text;
  for (const DerivationStep &each : steps) {
    text += text.empty() ? "" : ", ";
    switch (each.kind) {
    case Kind::Transpose:
      text += "transposed";
      break;
    case Kind::Reshape:
      text += "reshaped";
      break;
    case Kind::Expand:
      text += "repeated";
      break;
    case Kind::Gather:
      text += std::to_string(each.indices.size()) + " rows";
      break;
    case Kind::Slice:
      text += "rows " + std::to_string(each.dims[0]) + " to " + std::to_string(each.dims[1]);
      break;
    case Kind::Add: {
      std::string number = std::to_string(each.addend);
      number.erase(number.find_last_not_of('0') + 1);
      text += "plus " + StringRef(number).rtrim('.').str();
      break;
    }
    }
  }
  return text;
}

bool isSame(const Tensor &a, const Tensor &b) {
  return a.type == b.type && a.shape == b.shape && a.bytes.size() == b.bytes.size() &&
         std::memcmp(a.bytes.data(), b.bytes.data(), a.bytes.size()) == 0;
}

std::optional<Derivation> findDerivation(const Tensor &parameter, const Tensor &value) {
  if (parameter.type != value.type)
    return std::nullopt;
  if (isSame(parameter, value))
    return Derivation();
  if (auto found = findTranspose(parameter, value))
    return found;
  if (parameter.bytes.size() == value.bytes.size() &&
      std::memcmp(parameter.bytes.data(), value.bytes.data(), value.bytes.size()) == 0)
    return Derivation{step(Kind::Reshape, value.shape)};
  if (auto found = findExpand(parameter, value))
    return found;
  if (auto found = findRows(parameter, value))
    return found;
  return findAddend(parameter, value);
}

Derived distinctRows(const Tensor &value, unsigned rowDims) {
  ArrayRef<int64_t> shape(value.shape), rowShape = shape.take_back(rowDims);
  size_t row = product(rowShape) * elementBytes(value.type);
  DerivationStep gather = step(Kind::Gather, shape.drop_back(rowDims));
  llvm::StringMap<int64_t> places;
  std::vector<char> rows;
  for (size_t at = 0; row && at < value.bytes.size(); at += row) {
    auto [found, isNew] =
        places.try_emplace(StringRef(value.bytes.data() + at, row), int64_t(places.size()));
    if (isNew)
      rows.insert(rows.end(), value.bytes.data() + at, value.bytes.data() + at + row);
    gather.indices.push_back(found->second);
  }
  SmallVector<int64_t> tableShape = {int64_t(places.size())};
  tableShape.append(rowShape.begin(), rowShape.end());
  Derived result{makeTensor(value.type, tableShape, std::move(rows)), {}};
  bool isWhole = places.size() == gather.indices.size();
  if (!isWhole)
    result.steps.push_back(std::move(gather));
  else if (tableShape != shape)
    result.steps.push_back(step(Kind::Reshape, shape));
  return result;
}

std::optional<Derived> distinctRowsAnywhere(const Tensor &value) {
  if (isSplat(value))
    return std::nullopt;
  size_t rank = value.shape.size();
  Derived best{value, {}};
  if (rank < 2 || rank > 6)
    return best;
  for (unsigned mask = 0; mask + 1 < 1u << rank; ++mask) {
    // The dimensions in `mask` form a row; dimensions of extent 1 count as indices.
    SmallVector<int64_t> order, inverse(rank);
    unsigned rowDims = 0;
    for (bool isRow : {false, true})
      for (size_t d = 0; d < rank; ++d)
        if (((mask >> d) & 1) == isRow) {
          order.push_back(d);
          rowDims += isRow;
        }
    if (llvm::any_of(ArrayRef<int64_t>(order).take_back(rowDims),
                     [&](int64_t d) { return value.shape[d] == 1; }))
      continue;
    for (auto [i, d] : llvm::enumerate(order))
      inverse[d] = i;
    bool moves = !llvm::is_sorted(order);
    Tensor moved = moves ? *derive(value, {step(Kind::Transpose, order)}) : value;
    Derived table = distinctRows(moved, rowDims);
    int64_t elements = table.parameter.numElements();
    // If a row is a single number, rows may be equal by accident. So a table of single
    // numbers may have at most half as many elements as `value`.
    int64_t wanted = rowDims ? best.parameter.numElements() : value.numElements() / 2;
    if (elements >= value.numElements() || elements > wanted ||
        elements > best.parameter.numElements() ||
        (elements == best.parameter.numElements() && rowDims < best.parameter.shape.size() - 1))
      continue;
    if (moves)
      table.steps.push_back(step(Kind::Transpose, inverse));
    best = std::move(table);
  }
  return best;
}

Derived collapseRepeated(const Tensor &value, size_t samples) {
  bool splat = isSplat(value);
  auto shape = llvm::to_vector<6>(value.shape);
  SmallVector<int64_t> strides = stridesOf(value.shape);
  for (size_t d = 0; d < shape.size(); ++d)
    if (shape[d] > 1 && (splat ? d == samples : isConstantAlong(value, d)))
      shape[d] = 1;
  if (ArrayRef<int64_t>(shape) == ArrayRef<int64_t>(value.shape))
    return {value, {}};
  return {gatherStrided(value, shape, strides), {step(Kind::Expand, value.shape)}};
}

} // namespace dpc::onnx

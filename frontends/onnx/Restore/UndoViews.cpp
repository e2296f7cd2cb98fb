// Reconstructs tensors of the module from views of them.
//
// Only the order of dimensions with extents above 1 matters. A candidate for the original
// tensor is a list of dimensions: the dimensions of the value, and any number of
// dimensions of extent 1. The search undoes each view in every way that the call allows.

#include "frontends/onnx/Restore/UndoViews.h"

#include "frontends/onnx/Restore/FxCall.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <set>

using llvm::ArrayRef;
using llvm::SmallVector;
using llvm::StringRef;

namespace dpc::onnx {
namespace {

/// A list of dimensions of the value, as their indices. kOne stands for a dimension of
/// extent 1.
using DimList = std::vector<int>;
constexpr int kOne = -1;
/// The search gives up if there are more candidates or more views. It does not
/// permute more than kMostDims dimensions.
constexpr size_t kMostCandidates = 5000, kMostViews = 6, kMostDims = 5;

struct Candidate {
  DimList dims;
  /// Any shape with these elements is possible.
  bool isReshaped = false;
  /// Any order of the elements is possible.
  bool isAnyOrder = false;
  bool operator<(const Candidate &other) const {
    return std::tie(dims, isReshaped, isAnyOrder) <
           std::tie(other.dims, other.isReshaped, other.isAnyOrder);
  }
};

DimList withoutOnes(const DimList &dims) {
  DimList kept;
  llvm::copy_if(dims, std::back_inserter(kept), [](int dim) { return dim != kOne; });
  return kept;
}

/// Searches from the value back to the original tensor. Candidates are in the order from
/// the likeliest to the least likely.
class Search {
public:
  Search(const Tensor &value, bool isKernel) : isKernel(isKernel) {
    for (auto [i, extent] : llvm::enumerate(value.shape))
      start.dims.push_back(extent == 1 ? kOne : int(i));
  }

  bool run(ArrayRef<View> lastOnes, ArrayRef<View> others) {
    std::vector<Candidate> from = {start};
    for (const View &view : lastOnes)
      from = undo(from, view);
    visit(from, SmallVector<View>(others));
    return !isTooMuch;
  }

  std::vector<Candidate> found;
  Candidate start;

private:
  void visit(const std::vector<Candidate> &from, SmallVector<View> left);
  std::vector<Candidate> undo(const std::vector<Candidate> &from, const View &view);
  void undoMove(const Candidate &from, ViewKind kind, std::vector<Candidate> &to) const;

  bool isKernel, isTooMuch = false;
  size_t visited = 0;
};

/// Undoes the views in `left` in every possible order, and adds the candidates that
/// result to `found`. The likeliest order comes first: modules mostly move dimensions
/// first and add dimensions afterwards.
void Search::visit(const std::vector<Candidate> &from, SmallVector<View> left) {
  if (left.empty()) {
    for (const Candidate &each : from)
      if (llvm::none_of(found,
                        [&](const Candidate &known) { return !(known < each) && !(each < known); }))
        found.push_back(each);
    isTooMuch |= found.size() > kMostCandidates;
    return;
  }
  for (bool moves : {false, true})
    for (size_t i = 0; i < left.size() && !isTooMuch; ++i) {
      ViewKind kind = left[i].kind;
      bool isMove =
          kind == ViewKind::Swap || kind == ViewKind::Exchange || kind == ViewKind::Permute;
      // Among calls of one kind, the last one is undone first.
      bool isLast = llvm::none_of(left, [&](const View &other) {
        return other.kind == kind && other.number > left[i].number;
      });
      if (isMove != moves || !isLast)
        continue;
      SmallVector<View> rest(left);
      rest.erase(rest.begin() + i);
      visit(undo(from, left[i]), rest);
    }
}

std::vector<Candidate> Search::undo(const std::vector<Candidate> &from, const View &view) {
  std::vector<Candidate> to;
  for (const Candidate &each : from) {
    Candidate next = each;
    isTooMuch |= ++visited > kMostCandidates;
    if (isTooMuch)
      return to;
    switch (view.kind) {
    case ViewKind::None:
      next.isAnyOrder = true;
      to.push_back(next);
      break;
    case ViewKind::Keep:
    case ViewKind::Slice:
      to.push_back(next);
      break;
    case ViewKind::Reshape:
    case ViewKind::Select:
      next.isReshaped = true;
      to.push_back(next);
      break;
    case ViewKind::Unsqueeze:
      if (each.isReshaped)
        to.push_back(next);
      else
        for (size_t i = 0; i < each.dims.size(); ++i)
          if (each.dims[i] == kOne) {
            next = each;
            next.dims.erase(next.dims.begin() + i);
            to.push_back(next);
          }
      break;
    case ViewKind::Swap:
    case ViewKind::Exchange:
    case ViewKind::Permute:
      if (each.isReshaped || each.dims.size() > kMostDims) {
        // After a reshape, even a vector may come from a matrix, whose order is
        // unknown.
        next.isAnyOrder |= each.isReshaped || withoutOnes(each.dims).size() > 1;
        to.push_back(next);
      } else {
        undoMove(each, view.kind, to);
      }
      break;
    }
  }
  std::set<Candidate> known;
  llvm::erase_if(to, [&](const Candidate &each) { return !known.insert(each).second; });
  return to;
}

/// Adds the candidates that a call which moves dimensions may have had as its operand:
/// `from` with its dimensions in every other order that `kind` allows.
void Search::undoMove(const Candidate &from, ViewKind kind, std::vector<Candidate> &to) const {
  int rank = from.dims.size();
  std::vector<Candidate> moved;
  auto add = [&](ArrayRef<int> order) {
    Candidate next = from;
    for (int i = 0; i < rank; ++i)
      next.dims[i] = from.dims[order[i]];
    if (next.dims != from.dims)
      moved.push_back(next);
  };
  SmallVector<int> order(llvm::seq(0, rank).begin(), llvm::seq(0, rank).end());
  if (kind == ViewKind::Permute) {
    if (rank == 4 && isKernel)
      add({2, 3, 1, 0}); // height, width, inputs, outputs
    if (rank > 2) {      // exchanges the last two dimensions
      std::swap(order[rank - 2], order[rank - 1]);
      add(order);
      order.assign(llvm::seq(0, rank).begin(), llvm::seq(0, rank).end());
    }
    while (std::next_permutation(order.begin(), order.end()))
      add(order);
  } else if (rank == 2 || kind == ViewKind::Exchange) {
    auto exchange = [&](int a, int b) {
      std::swap(order[a], order[b]);
      add(order);
      std::swap(order[a], order[b]);
    };
    if (rank > 1 && isKernel)
      exchange(0, 1);
    for (int b = rank - 1; b > 0; --b)
      for (int a = b - 1; a >= 0; --a)
        exchange(a, b);
  }
  // If no order differs, the call moved only dimensions of extent 1, which changes
  // nothing.
  if (moved.empty())
    moved.push_back(from);
  to.insert(to.end(), moved.begin(), moved.end());
}

/// The steps that make a tensor with dimensions `to` from one with dimensions
/// `from`. Both are lists of indices into `extents`.
Derivation stepsBetween(const DimList &from, const DimList &to, ArrayRef<int64_t> extents) {
  auto shapeOf = [&](const DimList &dims) {
    SmallVector<int64_t, 4> shape;
    for (int dim : dims)
      shape.push_back(dim == kOne ? 1 : extents[dim]);
    return shape;
  };
  auto reshape = [&](const DimList &dims) {
    return DerivationStep{DerivationStep::Kind::Reshape, shapeOf(dims), {}, 0};
  };
  DimList begin = withoutOnes(from), end = withoutOnes(to);
  if (begin == end)
    return from == to ? Derivation() : Derivation{reshape(to)};
  Derivation steps;
  bool isPermutation = from.size() == to.size();
  if (!isPermutation && from != begin)
    steps.push_back(reshape(begin));
  const DimList &source = isPermutation ? from : begin, &target = isPermutation ? to : end;
  DerivationStep transpose{DerivationStep::Kind::Transpose, {}, {}, 0};
  std::vector<bool> isTaken(source.size());
  for (int dim : target)
    for (size_t i = 0; i < source.size(); ++i)
      if (source[i] == dim && !isTaken[i]) {
        isTaken[i] = true;
        transpose.dims.push_back(i);
        break;
      }
  steps.push_back(std::move(transpose));
  if (!isPermutation && to != end)
    steps.push_back(reshape(to));
  return steps;
}

} // namespace

ViewKind viewKindOf(StringRef fxName) {
  return llvm::StringSwitch<ViewKind>(stemOf(fxName))
      .Cases("_to_copy", "alias", "detach", "clone", "contiguous", "type_as", "to", ViewKind::Keep)
      .Case("t", ViewKind::Swap)
      .Cases("transpose", "swapaxes", "swapdims", ViewKind::Exchange)
      .Cases("permute", "movedim", "numpy_t", ViewKind::Permute)
      .Case("unsqueeze", ViewKind::Unsqueeze)
      .Cases("view", "reshape", "_unsafe_view", "flatten", "unflatten", "squeeze",
             ViewKind::Reshape)
      .Cases("slice", "narrow", "split", "chunk", "split_with_sizes", "getitem", ViewKind::Slice)
      .Case("select", ViewKind::Select)
      .Default(ViewKind::None);
}

View asView(StringRef fxName) {
  int number = 0;
  if (StringRef digits = fxName.drop_front(stemOf(fxName).size()); digits.consume_front("_"))
    (void)digits.getAsInteger(10, number);
  return {viewKindOf(fxName), number};
}

Undone undoViews(const Tensor &value, ArrayRef<View> lastOnes, ArrayRef<View> others,
                 bool isKernel) {
  auto isPart = [](const View &view) {
    return view.kind == ViewKind::Slice || view.kind == ViewKind::Select;
  };
  SmallVector<View> open;
  llvm::copy_if(others, std::back_inserter(open),
                [](const View &view) { return view.kind != ViewKind::Keep; });
  Search search(value, isKernel);
  bool isKnown = value.numElements() > 0 && open.size() <= kMostViews &&
                 search.run(lastOnes, open) && !search.found.empty();
  Candidate likeliest = isKnown ? search.found.front() : search.start;
  auto any = [&](auto &&differs) { return llvm::any_of(search.found, differs); };
  Doubt doubt = Doubt::None;
  if (!isKnown || any([&](const Candidate &each) {
        return each.isAnyOrder || withoutOnes(each.dims) != withoutOnes(likeliest.dims);
      }))
    doubt = value.numElements() > 1 ? Doubt::Order : Doubt::Shape;
  else if (any([&](const Candidate &each) {
             return each.isReshaped || each.dims != likeliest.dims;
           }))
    doubt = Doubt::Shape;
  // Most reshapes only add dimensions of extent 1. On a vector they can do nothing
  // else.
  DimList elements = withoutOnes(likeliest.dims);
  if (doubt == Doubt::Shape && likeliest.isReshaped && !elements.empty() &&
      elements.size() < likeliest.dims.size()) {
    likeliest.dims = elements;
    if (elements.size() == 1)
      doubt = Doubt::None;
  }
  if (llvm::any_of(lastOnes, isPart) || llvm::any_of(open, isPart))
    doubt = Doubt::Part;
  std::optional<Tensor> parameter =
      derive(value, stepsBetween(search.start.dims, likeliest.dims, value.shape));
  return {{std::move(*parameter), stepsBetween(likeliest.dims, search.start.dims, value.shape)},
          doubt};
}

} // namespace dpc::onnx

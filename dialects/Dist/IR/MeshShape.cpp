// Named axes of a device mesh: checks, and conversion between ranks and
// coordinates.

#include "dialects/Dist/IR/MeshShape.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;

namespace dpc::dist {

bool isAxisName(StringRef name) {
  return !name.empty() && !isDigit(name.front()) &&
         all_of(name, [](char c) { return isAlnum(c) || c == '_'; });
}

std::optional<std::string> MeshShape::check() const {
  for (auto [i, axis] : enumerate(axes)) {
    if (!isAxisName(axis.name))
      return ("mesh axis " + Twine(i) + " has the name '" + axis.name +
              "', which is not an identifier")
          .str();
    if (axis.size < 1)
      return ("mesh axis '" + axis.name + "' has size " + Twine(axis.size) + ", less than 1").str();
    if (unsigned first = *axisIndex(axis.name); first != i)
      return ("mesh axes " + Twine(first) + " and " + Twine(i) + " are both named '" + axis.name +
              "'")
          .str();
  }
  return std::nullopt;
}

int64_t MeshShape::worldSize() const {
  int64_t size = 1;
  for (const MeshAxis &axis : axes)
    if (!axis.sequential)
      size *= axis.size;
  return size;
}

std::optional<unsigned> MeshShape::axisIndex(StringRef name) const {
  for (auto [i, axis] : enumerate(axes))
    if (axis.name == name)
      return i;
  return std::nullopt;
}

int64_t MeshShape::axisSize(StringRef name) const {
  std::optional<unsigned> i = axisIndex(name);
  return i ? axes[*i].size : 1;
}

SmallVector<int64_t, 4> MeshShape::coordinates(int64_t rank, ArrayRef<int64_t> sequential) const {
  SmallVector<int64_t, 4> result(axes.size(), 0);
  for (size_t i = axes.size(); i-- > 0;) {
    if (axes[i].sequential)
      continue;
    result[i] = rank % axes[i].size;
    rank /= axes[i].size;
  }
  size_t next = 0;
  for (auto [i, axis] : enumerate(axes))
    if (axis.sequential && next < sequential.size())
      result[i] = sequential[next++];
  return result;
}

int64_t MeshShape::rankOf(ArrayRef<int64_t> coordinates) const {
  int64_t rank = 0;
  for (auto [i, axis] : enumerate(axes))
    if (!axis.sequential)
      rank = rank * axis.size + coordinates[i];
  return rank;
}

} // namespace dpc::dist

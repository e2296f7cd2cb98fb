#ifndef DPC_TEST_UNIT_DIALECTS_NN_IR_SPATIALGEOMETRY_H
#define DPC_TEST_UNIT_DIALECTS_NN_IR_SPATIALGEOMETRY_H

// Convolution and pooling by definition, written apart from the op rules, and
// the geometries they are tested on.

#include "dialects/Interfaces/HostTensor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <cmath>
#include <string>
#include <vector>

namespace dpc::test {

using Extents = std::vector<int64_t>;

/// A convolution, or a pooling with `groups` channels.
struct Geometry {
  const char *name;
  Extents input, kernel, strides, padLow, padHigh, dilations;
  int64_t batch = 2, groups = 1, inputsPerGroup = 1, outputsPerGroup = 1;
  /// Whether the tensors of a convolution have the order [batch, spatial.., channels].
  bool channelsLast = false;

  /// By the formula of the ops' documentation, in floating point.
  Extents output() const {
    Extents extents;
    for (size_t d = 0; d < input.size(); ++d)
      extents.push_back(std::floor(double(input[d] + padLow[d] + padHigh[d] -
                                          (kernel[d] - 1) * dilations[d] - 1) /
                                   strides[d]) +
                        1);
    return extents;
  }
  Extents x() const { return inOrder(batch, groups * inputsPerGroup, input); }
  Extents w() const { return inOrder(groups * outputsPerGroup, inputsPerGroup, kernel); }
  Extents y() const { return inOrder(batch, groups * outputsPerGroup, output()); }

  /// Where kernel element k of output o lies; empty when in the padding.
  Extents position(llvm::ArrayRef<int64_t> o, llvm::ArrayRef<int64_t> k) const {
    Extents at;
    for (size_t d = 0; d < input.size(); ++d) {
      at.push_back(o[d] * strides[d] + k[d] * dilations[d] - padLow[d]);
      if (at[d] < 0 || at[d] >= input[d])
        return {};
    }
    return at;
  }

  static Extents join(int64_t a, int64_t b, const Extents &rest) {
    Extents joined{a, b};
    joined.insert(joined.end(), rest.begin(), rest.end());
    return joined;
  }
  /// A shape or an index of a tensor.
  Extents inOrder(int64_t batch, int64_t channel, const Extents &spatial) const {
    if (!channelsLast)
      return join(batch, channel, spatial);
    Extents ordered{batch};
    ordered.insert(ordered.end(), spatial.begin(), spatial.end());
    ordered.push_back(channel);
    return ordered;
  }
};

inline const std::vector<Geometry> geometries = {
    {"one", {5}, {3}, {1}, {0}, {0}, {1}},
    {"pointwise", {3, 4}, {1, 1}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 3, 1, 3, 2},
    {"same", {4, 5}, {3, 3}, {1, 1}, {1, 1}, {1, 1}, {1, 1}, 2, 1, 2, 3},
    {"strided", {7, 6}, {3, 2}, {2, 3}, {1, 0}, {0, 1}, {1, 1}, 2, 1, 2, 2},
    {"remainder", {8}, {2}, {3}, {0}, {0}, {1}, 2, 1, 2, 2},
    {"stride past kernel", {9, 9}, {2, 1}, {4, 3}, {0, 1}, {1, 0}, {1, 1}},
    {"dilated", {7, 8}, {3, 2}, {1, 2}, {2, 0}, {1, 3}, {2, 3}, 1, 1, 2, 2},
    {"groups", {5, 4}, {2, 3}, {1, 2}, {1, 0}, {0, 1}, {1, 1}, 2, 2, 2, 3},
    {"depthwise", {5, 5}, {3, 3}, {2, 2}, {1, 1}, {1, 1}, {1, 1}, 2, 4, 1, 1},
    {"depth multiplier", {6}, {3}, {1}, {2}, {0}, {1}, 2, 3, 1, 2},
    {"cut off", {8, 6}, {2, 3}, {1, 1}, {-2, 1}, {1, -1}, {1, 1}, 1, 1, 2, 1},
    {"only padding", {2}, {2}, {2}, {4}, {5}, {1}},
    {"one output", {4, 3}, {4, 3}, {1, 1}, {0, 0}, {0, 0}, {1, 1}, 2, 1, 1, 4},
    {"solid", {4, 3, 5}, {2, 3, 2}, {2, 1, 3}, {1, 1, 0}, {0, 1, 2}, {1, 1, 2}, 1, 2, 1, 2},
};

/// All geometries, with the channels before and after the spatial dimensions.
inline std::vector<Geometry> geometriesInBothOrders() {
  std::vector<Geometry> both = geometries;
  for (Geometry g : geometries) {
    g.channelsLast = true;
    both.push_back(g);
  }
  return both;
}

inline std::string typeText(const Extents &shape, llvm::StringRef element = "f64") {
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element.str() + ">";
}

inline std::string listText(llvm::StringRef name, const Extents &values) {
  std::string text = " " + name.str() + " [";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + "]";
}

/// A function of `op` on tensors of the given shapes.
/// The element types of the operands and of the result; all are equal if there is only one.
using Elements = std::vector<std::string>;

inline std::string functionText(llvm::StringRef op, const std::vector<Extents> &operands,
                                llvm::StringRef attributes, const Extents &result,
                                const Elements &elements = {"f64"}) {
  std::string parameters, values, types;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string value = (i ? ", %" : "%") + std::to_string(i);
    std::string type = typeText(operands[i], elements.size() > 1 ? elements[i] : elements[0]);
    parameters += value + ": " + type;
    values += value;
    types += (i ? ", " : "") + type;
  }
  std::string to = typeText(result, elements.back());
  return "func.func @f(" + parameters + ") -> " + to + " {\n %r = " + op.str() + " " + values +
         attributes.str() + " : " + types + " -> " + to + "\n return %r : " + to + "\n}\n";
}

inline std::string windowText(const Geometry &g) {
  return listText("strides", g.strides) + listText("padLow", g.padLow) +
         listText("padHigh", g.padHigh) + listText("dilations", g.dilations);
}

inline std::string convolutionText(llvm::StringRef op, const Extents &first, const Extents &second,
                                   const Geometry &g, const Extents &result) {
  return functionText(op, {first, second},
                      windowText(g) + " groups " + std::to_string(g.groups) +
                          (g.channelsLast ? " channelsLast" : ""),
                      result);
}

inline std::string poolingText(llvm::StringRef op, const std::vector<Extents> &operands,
                               const Geometry &g, const Extents &result,
                               const Elements &elements = {"f64"}) {
  return functionText(op, operands, listText("kernel", g.kernel) + windowText(g), result, elements);
}

/// Visits every product x[xi] * w[wi] that y[yi] sums, from the definition.
inline void forEachTerm(const Geometry &g,
                        llvm::function_ref<void(int64_t xi, int64_t wi, int64_t yi)> visit) {
  auto xs = rowMajorStrides(g.x()), ws = rowMajorStrides(g.w()), ys = rowMajorStrides(g.y());
  Extents output = g.output();
  forEachIndex(
      Geometry::join(g.batch, g.groups * g.outputsPerGroup, output),
      [&](llvm::ArrayRef<int64_t> yIndex) {
        int64_t group = yIndex[1] / g.outputsPerGroup;
        for (int64_t i = 0; i < g.inputsPerGroup; ++i)
          forEachIndex(g.kernel, [&](llvm::ArrayRef<int64_t> k) {
            Extents at = g.position(yIndex.drop_front(2), k);
            if (at.empty())
              return;
            visit(linearize(g.inOrder(yIndex[0], group * g.inputsPerGroup + i, at), xs),
                  linearize(g.inOrder(yIndex[1], i, Extents(k)), ws),
                  linearize(g.inOrder(yIndex[0], yIndex[1], Extents(yIndex.drop_front(2))), ys));
          });
      });
}

/// The same windows over the input's channels, each on its own.
inline Geometry pooling(Geometry g) {
  g.groups *= g.inputsPerGroup;
  g.inputsPerGroup = g.outputsPerGroup = 1;
  return g;
}

} // namespace dpc::test

#endif // DPC_TEST_UNIT_DIALECTS_NN_IR_SPATIALGEOMETRY_H

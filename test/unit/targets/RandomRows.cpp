// Draws kernels of several reductions over tensors of many dimensions.

#include "test/unit/targets/RandomRows.h"

#include "llvm/ADT/SmallVector.h"

#include <random>

using namespace dpc::test;

namespace {
class Generator {
public:
  explicit Generator(unsigned seed) : random(seed) {
    const unsigned rank = 4 + below(3);
    for (unsigned d = 0; d < rank; ++d)
      shape.push_back(1 + below(rank > 4 ? 4 : 6));
    value = "%a";
  }

  std::string typeOf(const llvm::SmallVector<int> &extents) const {
    std::string type;
    for (int extent : extents)
      type += std::to_string(extent) + "x";
    return type + "f64";
  }

  std::string run() {
    const unsigned parts = 1 + below(3);
    for (unsigned part = 0; part < parts; ++part) {
      const llvm::SmallVector<int> axes = drawAxes();
      switch (below(3)) {
      case 0:
        softmax(axes);
        break;
      case 1:
        norm(axes);
        break;
      default:
        // A norm over the first dimension, then rows of the last.
        norm({0});
        softmax({int(shape.size()) - 1});
      }
    }
    return text;
  }

  const llvm::SmallVector<int> &getShape() const { return shape; }

private:
  unsigned below(unsigned count) { return random() % count; }

  llvm::SmallVector<int> drawAxes() {
    llvm::SmallVector<int> axes;
    while (axes.empty())
      for (unsigned d = 0; d < shape.size(); ++d)
        if (below(3) == 0)
          axes.push_back(int(d));
    return axes;
  }

  std::string make(const std::string &op, const std::string &types) {
    const std::string name = "%v" + std::to_string(count++);
    text += name + " = nn." + op + " : " + types + "\n";
    return name;
  }
  std::string binary(const std::string &op, const std::string &x, const std::string &y) {
    return make(op + " " + x + ", " + y, tensor(shape));
  }
  std::string tensor(const llvm::SmallVector<int> &extents) const {
    return "tensor<" + typeOf(extents) + ">";
  }

  static std::string listOf(const llvm::SmallVector<int> &numbers) {
    std::string list;
    for (int number : numbers)
      list += (list.empty() ? "" : ", ") + std::to_string(number);
    return "[" + list + "]";
  }

  /// `x` reduced over `axes`, at each element that it was made of.
  std::string reduced(const std::string &kind, const std::string &x,
                      const llvm::SmallVector<int> &axes, const std::string &then = "") {
    llvm::SmallVector<int> kept, extents;
    for (unsigned d = 0; d < shape.size(); ++d)
      if (std::find(axes.begin(), axes.end(), int(d)) == axes.end()) {
        kept.push_back(int(d));
        extents.push_back(shape[d]);
      }
    std::string sum = make("reduce " + kind + " " + x + " " + listOf(axes),
                           tensor(shape) + " -> " + tensor(extents));
    if (!then.empty())
      sum = make(then + " " + sum, tensor(extents));
    return make("broadcast " + sum + " " + listOf(kept), tensor(extents) + " -> " + tensor(shape));
  }

  void softmax(const llvm::SmallVector<int> &axes) {
    const std::string shifted = binary("sub", value, reduced("max", value, axes)),
                      power = make("exp " + shifted, tensor(shape));
    value = binary("div", power, reduced("sum", power, axes));
  }

  void norm(const llvm::SmallVector<int> &axes) {
    value = binary("div", value, reduced("sum", binary("mul", value, value), axes, "sqrt"));
  }

  std::mt19937 random;
  llvm::SmallVector<int> shape;
  std::string text, value;
  unsigned count = 0;
};
} // namespace

RandomRows::RandomRows(unsigned seed) {
  Generator generator(seed);
  text = generator.run();
  type = generator.typeOf(generator.getShape());
  opCase = OpCase{text.c_str(), {{type.c_str(), 0.5, 2}}};
}

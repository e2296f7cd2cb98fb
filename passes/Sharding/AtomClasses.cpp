// Finds the atoms that play the same role in repeated layers, by refining colours until atoms
// with different neighbours have different colours.

#include "passes/Sharding/AtomClasses.h"

#include "dialects/NN/IR/Conversions.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace dpc;

/// The depth of the refinement: atoms farther away than this many ops do not tell two atoms
/// apart. Layers at the ends of a program have other neighbours than layers in its middle.
static const unsigned kDepth = 2;

namespace {
/// Numbers keys. Equal keys get equal numbers.
class Colours {
public:
  using Key = std::vector<unsigned>;
  unsigned of(const Key &key) {
    return numbers.try_emplace(key, static_cast<unsigned>(numbers.size())).first->second;
  }

private:
  std::map<Key, unsigned> numbers;
};
} // namespace

std::vector<SmallVector<unsigned>> dpc::findAtomClasses(const ProgramLoops &program) {
  std::vector<unsigned> colours(program.getAtomCount(), 0);
  for (unsigned depth = 0; depth < kDepth; ++depth) {
    Colours ofOps;
    // By the colour of an op: the number of its first place. A place is one occurrence of an
    // atom in a loop. Ops of one colour have the same places.
    std::vector<unsigned> firstPlaces;
    unsigned places = 0;
    std::vector<Colours::Key> meetings(colours.size());
    for (const OpLoops &op : program.getOps()) {
      // Conversions of the first layer differ from those of the others, so they do not count.
      if (nn::isConversion(op.op))
        continue;
      Colours::Key key{op.form};
      for (const AtomDim &loop : op.loops) {
        key.push_back(~0u);
        for (const auto &segment : loop) {
          key.push_back(~1u);
          for (unsigned atom : segment)
            key.push_back(colours[atom]);
        }
      }
      const unsigned colour = ofOps.of(key);
      const bool isNew = colour == firstPlaces.size();
      if (isNew)
        firstPlaces.push_back(places);
      unsigned place = firstPlaces[colour];
      for (const AtomDim &loop : op.loops)
        for (const auto &segment : loop)
          for (unsigned atom : segment)
            meetings[atom].push_back(place++);
      if (isNew)
        places = place;
    }
    for (unsigned atom = 0; atom < colours.size(); ++atom) {
      llvm::sort(meetings[atom]);
      meetings[atom].push_back(static_cast<unsigned>(program.getSize(atom)));
    }
    Colours next;
    for (unsigned atom = 0; atom < colours.size(); ++atom)
      colours[atom] = next.of(meetings[atom]);
  }
  std::map<unsigned, unsigned> numbers;
  std::vector<SmallVector<unsigned>> classes;
  for (unsigned atom = 0; atom < colours.size(); ++atom) {
    auto [number, isNew] =
        numbers.try_emplace(colours[atom], static_cast<unsigned>(classes.size()));
    if (isNew)
      classes.emplace_back();
    classes[number->second].push_back(atom);
  }
  return classes;
}

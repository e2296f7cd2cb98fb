// Finds the atoms that play the same role in repeated layers, by colour refinement. All atoms
// begin with the same colour. In each round, two atoms get different colours if their sizes differ,
// if the ops that have them differ in form, or if the other atoms of these ops have different
// colours.

#include "passes/Sharding/Atoms/AtomClasses.h"

#include "dialects/NN/IR/Conversions.h"

#include "llvm/ADT/STLExtras.h"

#include <map>

using namespace mlir;
using namespace dpc;

/// The number of rounds of the refinement. A difference that is more than this many ops away
/// does not separate two atoms. More rounds would separate the layers at the ends of a
/// program from the layers in its middle, because their neighbours differ.
static const unsigned kDepth = 2;

namespace {
/// Gives each key a number, its colour. Equal keys get equal numbers.
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
    // A place is one occurrence of an atom in a loop of an op. Ops of one colour share the
    // numbers of their places. `firstPlaces[colour]` is the number of the first place in ops of
    // this colour.
    std::vector<unsigned> firstPlaces;
    unsigned places = 0;
    std::vector<Colours::Key> meetings(colours.size());
    for (const OpLoops &op : program.getOps()) {
      // The first layer has other conversions than the other layers, so conversions do not
      // count.
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

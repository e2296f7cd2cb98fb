// Decides which dimension of an array counts samples if the shape of the array does
// not tell this, e.g. because the array has as many samples as time steps. The other
// arrays of the run decide.

#include "runtime/src/data/SettleLayouts.h"

#include "runtime/src/base/Placement.h"

namespace dpc {

namespace {

/// The layouts that occur among the arrays whose shape decides their layout.
struct Seen {
  bool samplesFirst = false, asInput = false;

  void add(const Bindings &all) {
    for (const Binding &binding : all) {
      samplesFirst |= binding.layout == Layout::samplesFirst;
      asInput |= binding.layout == Layout::asInput;
    }
  }
  bool any() const { return samplesFirst || asInput; }
};

} // namespace

void layAsInput(const dpc_input_t &input, Binding *binding) {
  const auto samples = static_cast<uint32_t>(input.batch_dim);
  binding->rowStride = elementCount(input.shape + samples + 1, input.dim_count - samples - 1);
  binding->outerStride = binding->rows * binding->rowStride;
  binding->layout = Layout::asInput;
}

void settleLayouts(const dpc_program_t &program, const std::vector<InputLoader *> &loaders) {
  Seen inAll;
  std::vector<Seen> inInput(program.input_count);
  for (uint32_t i = 0; i < program.input_count; ++i)
    for (const InputLoader *loader : loaders) {
      inAll.add(loader->allBindings(i));
      inInput[i].add(loader->allBindings(i));
    }
  for (uint32_t i = 0; i < program.input_count; ++i) {
    const Seen &seen = inInput[i].any() ? inInput[i] : inAll;
    if (seen.samplesFirst == seen.asInput) // no array decides, or two arrays disagree
      continue;
    for (InputLoader *loader : loaders)
      for (Binding &binding : loader->allBindings(i))
        if (binding.layout == Layout::either) {
          // Both layouts give the same number of samples, because the first dimension
          // and batch_dim of the array have the same extent.
          if (seen.asInput)
            layAsInput(program.inputs[i], &binding);
          else
            binding.layout = Layout::samplesFirst;
        }
  }
}

} // namespace dpc

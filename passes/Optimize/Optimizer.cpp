// The table of optimizers with their options, and the code that their formulas share.

#include "passes/Optimize/Optimizer.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::nn;

namespace {
struct Entry {
  StringLiteral name;
  SmallVector<OptionInfo> options;
  std::unique_ptr<Optimizer> (*create)(const OptionSpec &);
};
} // namespace

/// Returns the table of all optimizers: for each, its name, its options with their defaults, and
/// its factory. The defaults are those of torch.optim, with two exceptions: the momentum of
/// `momentum` and `nesterov` is 0.9, and torch.optim has no LAMB.
static std::vector<Entry> knownOptimizers() {
  auto rate = [](double value) { return OptionInfo{"lr", value}; };
  auto decay = [](double value) { return OptionInfo{"weight-decay", value}; };
  auto epsilon = [](double value) { return OptionInfo{"eps", value}; };
  auto below1 = [](StringLiteral name, double value) {
    return OptionInfo{name, value, 0, 1, /*belowHighest=*/true};
  };
  SmallVector<OptionInfo> betas = {below1("beta1", 0.9), below1("beta2", 0.999)};
  auto with = [&](SmallVector<OptionInfo> options, ArrayRef<OptionInfo> more) {
    options.append(more.begin(), more.end());
    return options;
  };
  OptionInfo noMomentum{"momentum", 0}, momentum{"momentum", 0.9};
  return {
      {"sgd", {rate(1e-3), decay(0), noMomentum}, createSgd},
      {"momentum", {rate(1e-3), decay(0), momentum}, createSgd},
      {"nesterov", {rate(1e-3), decay(0), momentum}, createSgd},
      {"adam", with({rate(1e-3), decay(0), epsilon(1e-8)}, betas), createAdam},
      {"adamw", with({rate(1e-3), decay(0.01), epsilon(1e-8)}, betas), createAdam},
      {"adagrad", {rate(1e-2), decay(0), epsilon(1e-10), OptionInfo{"lr-decay", 0}}, createAdagrad},
      {"lamb", with({rate(1e-3), decay(0), epsilon(1e-6)}, betas), createLamb},
  };
}

std::unique_ptr<Optimizer> Optimizer::create(StringRef spec, OptionSpec &options,
                                             std::string &error) {
  StringRef name = spec.split(',').first;
  std::vector<Entry> known = knownOptimizers();
  for (const Entry &entry : known) {
    if (entry.name != name)
      continue;
    std::optional<OptionSpec> parsed =
        OptionSpec::parse(spec, entry.options, ("optimizer " + name).str(), error);
    if (!parsed)
      return nullptr;
    options = *parsed;
    return entry.create(options);
  }
  llvm::raw_string_ostream os(error);
  os << "unknown optimizer '" << name << "'; known: ";
  llvm::interleaveComma(known, os, [&](const Entry &entry) { os << entry.name; });
  return nullptr;
}

std::string Optimizer::describeAll() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (const Entry &entry : knownOptimizers()) {
    os << "  " << llvm::left_justify(entry.name, 9);
    for (const OptionInfo &option : entry.options)
      os << ' ' << option.name << '=' << llvm::format("%g", option.defaultValue);
    os << '\n';
  }
  return text;
}

SmallVector<Value>
dpc::buildUpdate(Expressions e, ValueRange tensors, ValueRange scalars, ArrayRef<Type> resultTypes,
                 function_ref<SmallVector<Value>(Expressions, ArrayRef<Value>)> body) {
  OpBuilder::InsertionGuard guard(e.builder);
  auto update = e.make<UpdateOp>(resultTypes, tensors, scalars);
  Block *block = e.builder.createBlock(&update.getBody());
  for (Value operand : update.getOperands())
    block->addArgument(RankedTensorType::get({}, typeOf(operand).getElementType()), e.loc);
  SmallVector<Value> elements(block->getArguments());
  e.make<YieldOp>(ValueRange(body(e, elements)));
  return SmallVector<Value>(update.getResults());
}

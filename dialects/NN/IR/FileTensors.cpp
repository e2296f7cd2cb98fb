// Reads and writes the attribute that says how the values of variables are found
// in files.

#include "dialects/NN/IR/FileTensors.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace dpc::nn {

/// The text of each FileTensor::Holds in the attribute.
constexpr llvm::StringLiteral kHolds[] = {"all", "part", "nothing", "tied"};

void setFileTensors(VariableOp variable, ArrayRef<FileTensor> tensors) {
  if (tensors.empty()) {
    variable->removeAttr(kFileTensorsAttrName);
    return;
  }
  Builder builder(variable.getContext());
  SmallVector<Attribute> entries;
  for (const FileTensor &tensor : tensors) {
    NamedAttrList entry;
    entry.append("name", builder.getStringAttr(tensor.name));
    entry.append("shape", builder.getDenseI64ArrayAttr(tensor.shape));
    entry.append("holds", builder.getStringAttr(kHolds[int(tensor.holds)]));
    if (tensor.holds == FileTensor::Holds::all)
      entry.append("strides", builder.getDenseI64ArrayAttr(tensor.strides));
    if (tensor.shift != 0)
      entry.append("shift", builder.getF64FloatAttr(tensor.shift));
    entries.push_back(entry.getDictionary(variable.getContext()));
  }
  variable->setAttr(kFileTensorsAttrName, builder.getArrayAttr(entries));
}

/// Reads one entry; null if it does not have the form that setFileTensors writes.
static std::optional<FileTensor> readEntry(Attribute attribute, ArrayRef<int64_t> variable) {
  auto entry = dyn_cast<DictionaryAttr>(attribute);
  auto name = entry ? entry.getAs<StringAttr>("name") : StringAttr();
  auto shape = entry ? entry.getAs<DenseI64ArrayAttr>("shape") : DenseI64ArrayAttr();
  auto holds = entry ? entry.getAs<StringAttr>("holds") : StringAttr();
  auto *kind = holds ? llvm::find(kHolds, holds.getValue()) : std::end(kHolds);
  if (!name || !shape || kind == std::end(kHolds))
    return std::nullopt;
  FileTensor tensor;
  tensor.name = name.str();
  tensor.shape.assign(shape.asArrayRef().begin(), shape.asArrayRef().end());
  tensor.holds = FileTensor::Holds(kind - std::begin(kHolds));
  if (auto shift = entry.getAs<FloatAttr>("shift"))
    tensor.shift = shift.getValueAsDouble();
  auto strides = entry.getAs<DenseI64ArrayAttr>("strides");
  if (bool(strides) != (tensor.holds == FileTensor::Holds::all))
    return std::nullopt;
  if (!strides)
    return tensor;
  tensor.strides.assign(strides.asArrayRef().begin(), strides.asArrayRef().end());
  if (tensor.strides.size() != variable.size())
    return std::nullopt;
  int64_t last = 0, elements = 1;
  for (int64_t extent : tensor.shape)
    elements *= extent;
  for (auto [stride, extent] : llvm::zip_equal(tensor.strides, variable)) {
    if (stride < 0)
      return std::nullopt;
    last += stride * std::max<int64_t>(extent - 1, 0);
  }
  if (last >= elements && !llvm::is_contained(variable, 0))
    return std::nullopt;
  return tensor;
}

FailureOr<SmallVector<FileTensor>> getFileTensors(VariableOp variable) {
  SmallVector<FileTensor> tensors;
  Attribute attribute = variable->getAttr(kFileTensorsAttrName);
  if (!attribute)
    return tensors;
  auto entries = dyn_cast<ArrayAttr>(attribute);
  for (Attribute each : entries ? entries.getValue() : ArrayRef<Attribute>()) {
    std::optional<FileTensor> tensor = readEntry(each, variable.getType().getShape());
    if (!tensor) {
      entries = {};
      break;
    }
    tensors.push_back(std::move(*tensor));
  }
  if (!entries)
    return variable.emitOpError("has an attribute ") << kFileTensorsAttrName << " of another form";
  return tensors;
}

VariableNames::VariableNames(ModuleOp module) {
  llvm::StringSet<> own;
  for (auto variable : module.getOps<VariableOp>())
    own.insert(variable.getTensorName());
  for (auto variable : module.getOps<VariableOp>()) {
    FailureOr<SmallVector<FileTensor>> tensors = getFileTensors(variable);
    if (failed(tensors))
      continue;
    for (const FileTensor &tensor : *tensors)
      if (!own.contains(tensor.name))
        others[variable.getTensorName()].push_back(tensor.name);
  }
}

bool VariableNames::isSpelled(StringRef name, StringRef text) const {
  auto found = others.find(name);
  return name == text || (found != others.end() && llvm::is_contained(found->second, text.str()));
}

bool VariableNames::matches(StringRef name, const llvm::GlobPattern &glob) const {
  auto found = others.find(name);
  return glob.match(name) ||
         (found != others.end() &&
          llvm::any_of(found->second, [&](const std::string &other) { return glob.match(other); }));
}

} // namespace dpc::nn

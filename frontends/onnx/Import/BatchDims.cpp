// Finds the dimension of each input that counts the samples.

#include "frontends/onnx/Import/BatchDims.h"

#include "frontends/onnx/Model/Failure.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace dpc::onnx {
namespace {

llvm::Error checkAsked(const std::map<std::string, int64_t> &asked, ArrayRef<GraphInput> inputs) {
  for (const auto &[name, dim] : asked) {
    auto input = llvm::find_if(
        inputs, [&, &name = name](const GraphInput &each) { return each.name == name; });
    if (input == inputs.end())
      return fail(
          llvm::formatv("--batch-dim={0}:{1}: the model has no input of this name", name, dim));
    if (dim < -1 || dim >= int64_t(input->shape.size()))
      return fail(llvm::formatv("--batch-dim={0}:{1}: the input has rank {2}", name, dim,
                                input->shape.size()));
  }
  return llvm::Error::success();
}

bool isOpen(const GraphInput &inFile, size_t dim) {
  return !inFile.hasRank || inFile.shape[dim] < 0;
}

StringRef nameOf(const GraphInput &inFile, int64_t dim) {
  return dim >= 0 && size_t(dim) < inFile.dimNames.size() ? inFile.dimNames[dim] : StringRef();
}

/// "dimension 1 ('batch')".
std::string printDim(const GraphInput &inFile, int64_t dim) {
  StringRef name = nameOf(inFile, dim);
  return "dimension " + std::to_string(dim) + (name.empty() ? "" : " ('" + name.str() + "')");
}

/// The batch dimension of the first input; -1 for a scalar.
int64_t findFirst(const GraphInput &inFile, size_t rank, std::vector<std::string> &notes) {
  if (rank == 0)
    return -1;
  if (isOpen(inFile, 0))
    return 0;
  auto open = llvm::make_filter_range(llvm::seq<size_t>(1, rank),
                                      [&](size_t d) { return isOpen(inFile, d); });
  if (open.empty())
    return 0;
  for (size_t d : open)
    if (nameOf(inFile, d).starts_with_insensitive("batch"))
      return d;
  notes.push_back(
      llvm::formatv("dimension 0 of input '{0}', which the file fixes at {1}, counts the "
                    "samples; --batch-dim={0}:{2} takes {3}, which the file leaves open",
                    inFile.name, inFile.shape[0], *open.begin(), printDim(inFile, *open.begin())));
  return 0;
}

} // namespace

llvm::Error findBatchDims(ArrayRef<GraphInput> inFile, const std::map<std::string, int64_t> &asked,
                          MutableArrayRef<GraphInput> inputs, std::vector<std::string> &notes) {
  if (llvm::Error error = checkAsked(asked, inputs))
    return error;
  for (auto [i, input] : llvm::enumerate(inputs)) {
    if (auto given = asked.find(input.name); given != asked.end()) {
      input.batchDim = given->second;
      continue;
    }
    const GraphInput &first = inputs.front();
    if (i == 0) {
      input.batchDim = findFirst(inFile[i], input.shape.size(), notes);
    } else if (first.batchDim >= 0) {
      StringRef name = nameOf(inFile.front(), first.batchDim);
      auto same = name.empty() ? inFile[i].dimNames.end() : llvm::find(inFile[i].dimNames, name);
      if (same != inFile[i].dimNames.end())
        input.batchDim = same - inFile[i].dimNames.begin();
      else if (!input.shape.empty() && input.shape[0] == first.shape[first.batchDim])
        input.batchDim = 0;
    }
    if (input.batchDim > 0)
      notes.push_back(
          llvm::formatv("{0} of input '{1}' counts the samples; --batch-dim={1}:K takes "
                        "another one",
                        printDim(inFile[i], input.batchDim), input.name));
  }
  return llvm::Error::success();
}

} // namespace dpc::onnx

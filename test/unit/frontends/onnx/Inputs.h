// The models of test/frontends/onnx/Inputs.

#ifndef DPC_TEST_UNIT_FRONTENDS_ONNX_INPUTS_H
#define DPC_TEST_UNIT_FRONTENDS_ONNX_INPUTS_H

#include "frontends/onnx/Import/Registry.h"
#include "frontends/onnx/Model/Check.h"
#include "frontends/onnx/Model/Classify.h"
#include "frontends/onnx/Model/Graph.h"
#include "frontends/onnx/Model/Load.h"

#include "OnnxSchema.pb.h"

#include <gtest/gtest.h>

namespace dpc::onnx {

inline std::string inputPath(const std::string &name) {
  return std::string(DPC_ONNX_INPUTS "/") + name + ".onnx";
}

/// Loads, checks and inlines a model; the first error's text, or empty.
struct Prepared {
  std::unique_ptr<OnnxModel> model;
  Graph graph;
  std::string error;

  explicit Prepared(const std::string &path) {
    auto loaded = loadModel(path);
    if (!loaded) {
      error = llvm::toString(loaded.takeError());
      return;
    }
    model = std::move(*loaded);
    if (llvm::Error failed = checkModel(*model->proto)) {
      error = llvm::toString(std::move(failed));
      return;
    }
    auto built = buildGraph(*model);
    if (!built) {
      error = llvm::toString(built.takeError());
      return;
    }
    graph = std::move(*built);
    if (llvm::Error failed = checkOperators(graph, Registry::get()))
      error = llvm::toString(std::move(failed));
  }
};

/// One bad model and what its error says.
struct BadInput {
  const char *name;
  const char *message;
};

inline void expectError(const BadInput &input) {
  Prepared prepared(inputPath(input.name));
  EXPECT_NE(prepared.error.find(input.message), std::string::npos)
      << input.name << ": '" << prepared.error << "' does not say '" << input.message << "'";
  EXPECT_EQ(prepared.error.find('\n'), std::string::npos) << input.name;
}

} // namespace dpc::onnx

#endif // DPC_TEST_UNIT_FRONTENDS_ONNX_INPUTS_H

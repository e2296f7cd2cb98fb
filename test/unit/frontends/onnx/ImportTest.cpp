// What a program that imports models sees: errors as diagnostics, replaced
// shapes, shape options.

#include "frontends/onnx/Import/Import.h"

#include "dialects/NN/IR/NNDialect.h"
#include "frontends/onnx/Import/Constants.h"

#include "Inputs.h"

#include "mlir/IR/Diagnostics.h"

using namespace dpc::onnx;

namespace {

struct Imported {
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  std::string errors, notes;
  mlir::OwningOpRef<mlir::ModuleOp> module;

  explicit Imported(const std::string &path, const ImportOptions &options = {}) {
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return mlir::success();
    });
    llvm::raw_string_ostream os(notes);
    module = importOnnx(path, &context, options, os);
  }
};

TEST(Import, ReportsErrorsAsDiagnostics) {
  Imported imported(inputPath("bad-empty"));
  EXPECT_FALSE(imported.module);
  EXPECT_NE(imported.errors.find("the file is empty"), std::string::npos);
}

TEST(Import, ReportsOneErrorForAMissingAttribute) {
  Imported imported(inputPath("bad-attribute-missing"));
  EXPECT_FALSE(imported.module);
  EXPECT_EQ(imported.errors, inputPath("bad-attribute-missing") +
                                 ": node 'y_node' (Cast, opset 17): attribute 'to' is "
                                 "missing\n");
}

TEST(Import, ReplacesShapes) {
  ImportOptions options;
  ASSERT_EQ(parseShapeOption("x:6x4", options), "");
  Imported imported(inputPath("relu"), options);
  ASSERT_TRUE(imported.module) << imported.errors;
  std::string text;
  llvm::raw_string_ostream(text) << *imported.module;
  EXPECT_NE(text.find("nn.relu %arg0 : tensor<6x4xf32>"), std::string::npos) << text;
}

std::string errorOf(const char *name, std::initializer_list<const char *> shapes) {
  ImportOptions options;
  for (const char *shape : shapes)
    EXPECT_EQ(parseShapeOption(shape, options), "");
  return Imported(inputPath(name), options).errors;
}

TEST(Import, RejectsShapesThatDoNotFit) {
  EXPECT_NE(errorOf("relu", {"z:2x4"}).find("--shape=z: the model has no input of this name"),
            std::string::npos);
  EXPECT_NE(errorOf("relu", {"x:8"}).find("[8] has rank 1 but the input has rank 2"),
            std::string::npos);
}

TEST(Import, ParsesShapeOptions) {
  ImportOptions options;
  EXPECT_EQ(parseShapeOption("a:b:2x3", options), ""); // names may hold colons
  EXPECT_EQ(options.shapes["a:b"], (llvm::SmallVector<int64_t>{2, 3}));
  EXPECT_EQ(parseShapeOption("s:", options), "");
  EXPECT_TRUE(options.shapes["s"].empty());
  for (const char *form : {"x", ":2x3", "x=8x3"})
    EXPECT_EQ(parseShapeOption(form, options), "'" + std::string(form) + "' is not NAME:DxDx..");
  for (const auto &[extent, text] :
       {std::pair("", "x:2x"), {"0", "x:0x3"}, {"-1", "x:-1x3"}, {"a", "x:2xa"}})
    EXPECT_EQ(parseShapeOption(text, options),
              "'" + std::string(extent) + "' in '" + text + "' is not an extent of at least 1");
  EXPECT_EQ(parseShapeOption("s:4", options), "'s' is given twice");
}

/// A tensor that does not change along a dimension is a smaller constant and a
/// broadcast.
TEST(Constants, EmitsEqualDimensionsAsBroadcast) {
  mlir::MLIRContext context;
  context.loadDialect<dpc::nn::NNDialect>();
  mlir::OpBuilder builder(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module = mlir::ModuleOp::create(builder.getUnknownLoc());
  builder.setInsertionPointToStart(module->getBody());
  dpc::HostTensor mask(mlir::RankedTensorType::get({2, 3}, builder.getF32Type()));
  mask.floats = {0, 1, 2, 0, 1, 2};
  mlir::Value value = emitConstant(builder, builder.getUnknownLoc(), mask);
  ASSERT_TRUE(value.getDefiningOp<dpc::nn::BroadcastOp>());
  EXPECT_EQ(evaluate(value)->floats, mask.floats);
  mask.floats = {0, 1, 2, 3, 1, 2};
  EXPECT_TRUE(
      emitConstant(builder, builder.getUnknownLoc(), mask).getDefiningOp<dpc::nn::ConstantOp>());
  mask.floats.assign(6, 4.0);
  auto splat =
      emitConstant(builder, builder.getUnknownLoc(), mask).getDefiningOp<dpc::nn::ConstantOp>();
  ASSERT_TRUE(splat);
  EXPECT_TRUE(llvm::cast<mlir::DenseElementsAttr>(splat.getValue()).isSplat());
}

} // namespace

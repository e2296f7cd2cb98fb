// Which ops take 16-bit floats in mixed precision: every op of the dialect is in one of four
// lists.
#include "dialects/NN/IR/NNDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringSet.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace dpc;

namespace {

// Products, which sum in f32, and moves. An op added to the dialect is put into one list here.
const llvm::StringSet<> narrowOps = {
    "dot", "conv", "conv_input_grad", "conv_weight_grad", "attention", "attention_grad"};
const llvm::StringSet<> followingOps = {"abs",   "concat",        "max",      "min",     "neg",
                                        "pad",   "relu",          "reshape",  "reverse", "select",
                                        "slice", "stop_gradient", "transpose"};
// What takes rows of a table, whose gradients are added up.
const llvm::StringSet<> lookupOps = {"gather"};
// What rounds, adds up many elements, or makes numbers: f32.
const llvm::StringSet<> wideOps = {"acos",
                                   "acosh",
                                   "add",
                                   "after",
                                   "and",
                                   "arg_reduce",
                                   "asin",
                                   "asinh",
                                   "atan",
                                   "atanh",
                                   "batch_norm",
                                   "broadcast",
                                   "ceil",
                                   "clamp",
                                   "compare",
                                   "constant",
                                   "convert",
                                   "cos",
                                   "cosh",
                                   "cross_entropy",
                                   "cumsum",
                                   "div",
                                   "draw_normal",
                                   "draw_uniform",
                                   "dropout",
                                   "erf",
                                   "exp",
                                   "floor",
                                   "gather_elements",
                                   "gather_nd",
                                   "gelu",
                                   "iota",
                                   "is_inf",
                                   "is_nan",
                                   "kernel",
                                   "log",
                                   "log1p",
                                   "log_softmax",
                                   "max_pool",
                                   "max_pool_grad",
                                   "max_pool_taps",
                                   "mod",
                                   "mul",
                                   "normalize",
                                   "not",
                                   "or",
                                   "pow",
                                   "random_uniform",
                                   "reduce",
                                   "rem",
                                   "round",
                                   "rsqrt",
                                   "scatter_add",
                                   "scatter_elements",
                                   "scatter_nd",
                                   "segment_fill",
                                   "segment_sum",
                                   "shift_left",
                                   "shift_right",
                                   "sigmoid",
                                   "sign",
                                   "sin",
                                   "sinh",
                                   "softmax",
                                   "softplus",
                                   "sqrt",
                                   "sub",
                                   "sum_pool",
                                   "sum_pool_grad",
                                   "tan",
                                   "tanh",
                                   "top_k",
                                   "update",
                                   "variable",
                                   "xor",
                                   "yield"};

TEST(Precision, EveryOpAnswers) {
  MLIRContext context;
  context.loadDialect<nn::NNDialect, func::FuncDialect>();
  unsigned count = 0;
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "nn")
      continue;
    ++count;
    StringRef name = op.getStringRef().drop_front(3);
    EXPECT_EQ(op.hasInterface<PrecisionOpInterface>(),
              narrowOps.contains(name) || followingOps.contains(name) || lookupOps.contains(name))
        << name.str();
    EXPECT_EQ(narrowOps.contains(name) + followingOps.contains(name) + lookupOps.contains(name) +
                  wideOps.contains(name),
              1)
        << name.str();
  }
  EXPECT_EQ(count, narrowOps.size() + followingOps.size() + lookupOps.size() + wideOps.size());
}

} // namespace

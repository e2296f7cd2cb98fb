// Models that are well formed, and the messages for those that are not.

#include "Inputs.h"

using namespace dpc::onnx;

namespace {

TEST(Check, AcceptsGoodModels) {
  for (const char *name :
       {"relu", "functions", "identity", "typed-data", "classify-dynamo", "classify-looks"})
    EXPECT_EQ(Prepared(inputPath(name)).error, "") << name;
}

/// A file that was saved without its parameters says so; where one of several is missing,
/// the file is damaged in another way.
TEST(Check, SaysThatAFileHasNoInitializers) {
  EXPECT_EQ(Prepared(inputPath("bad-dangling")).error,
            "node 'y_node' (Add): input 'ghost' is not defined anywhere; the file has no "
            "initializer at all: export the model with its weights (--params=none then compiles "
            "it without the file of its external data)");
  EXPECT_EQ(Prepared(inputPath("bad-dangling-one")).error,
            "node 'y_node' (Add): input 'ghost' is not defined anywhere");
}

TEST(Check, RejectsEachBadModel) {
  for (const BadInput &input : std::initializer_list<BadInput>{
           {"bad-no-graph", "the model has no graph"},
           {"bad-ir-old", "IR version 2, which is too old: dpc reads 3 to 13"},
           {"bad-ir-new", "IR version 14, which is too new: dpc reads 3 to 13"},
           {"bad-opset-old", "opset 12 of ai.onnx, which is too old: dpc reads 13 to 27"},
           {"bad-opset-new", "opset 28 of ai.onnx, which is too new: dpc reads 13 to 27"},
           {"bad-opset-twice", "imports domain ai.onnx twice, versions 17 and 18"},
           {"bad-opset-missing", "imports no opset"},
           {"bad-domain", "node 'y_node' (Relu): domain com.other is used but not imported"},
           {"bad-ssa", "value 'y' is defined twice: by node 'first' (Relu) and "
                       "by node 'second' (Abs)"},
           {"bad-defines-input", "value 'x' is defined twice: by an input and by node 'again'"},
           {"bad-unsorted", "node 'first' (Relu): uses 'a' before node "
                            "'second' (Abs) defines it"},
           {"bad-cycle", "node 'one' (Add): uses 'b' before node 'two' (Abs) defines it"},
           {"bad-dangling", "node 'y_node' (Add): input 'ghost' is not defined anywhere"},
           {"bad-output", "output 'y' is not defined anywhere"},
           {"bad-no-outputs", "the graph: has no outputs"},
           {"bad-initializer-twice", "initializer 'w' is given twice"},
           {"bad-arity", "node 'y_node' (Add, opset 17): has 1 inputs but must have 2"},
           {"bad-attribute-unknown", "node 'y_node' (Relu, opset 17): has no attribute 'slope'"},
           {"bad-loop-body", "node 'y_node' (Loop, opset 17): attribute 'body' is missing"},
           {"bad-withdrawn", "node 'y_node' (GroupNormalization, opset 18): "
                             "ONNX has withdrawn this operator"},
           {"bad-dead-node", "node 'unused_node' (Relu, opset 17): has 2 "
                             "inputs but must have 1"},
           {"bad-function-operand",
            "node 'y_node/inner' (Add, opset 17): has 1 inputs but must have "
            "2"},
           {"bad-function-attribute", "node 'y_node/inner' (Cast, opset 17): "
                                      "attribute 'to' is missing"},
           {"bad-attribute-twice", "attribute 'axis' is given twice"},
           {"bad-attribute-type", "attribute 'axis' has type FLOAT but holds 'i'"},
           {"bad-attribute-reference", "refers to function attribute 'outside' outside a function"},
           {"bad-sequence-input", "input 'x': is not a tensor"},
           {"bad-sparse", "initializer 's' is sparse"},
           {"bad-subgraph-capture", "input 'nowhere' is not defined anywhere"},
           {"bad-recursion", "function 'Me' of domain local calls itself"},
           {"bad-mutual-recursion", "calls itself"},
           {"bad-call-depth", "called more than 100 functions deep"},
           {"bad-expansion", "more than 1000000 nodes after inlining"},
           {"bad-function-twice", "function 'Double' of domain local is given twice"},
           {"bad-function-arity", "with 2 inputs and 1 outputs but it has 1 and 1"}})
    expectError(input);
}

/// All unsupported operators are in one error, with opset and nodes.
TEST(Check, ListsUnsupportedOperators) {
  expectError({"bad-unsupported",
               "2 operators are not supported: ai.onnx.Det (opset 17): 'd1', 'd2'; "
               "ai.onnx.NonMaxSuppression (opset 17): 'n'"});
}

TEST(Inline, ExpandsNestedFunctionsAndAttributes) {
  Prepared prepared(inputPath("functions"));
  ASSERT_EQ(prepared.error, "");
  ASSERT_EQ(prepared.graph.nodes.size(), 3u);
  EXPECT_EQ(prepared.graph.nodes[0].opType, "Add");
  EXPECT_EQ(prepared.graph.nodes[1].opType, "Add");
  const Node &leaky = prepared.graph.nodes[2];
  EXPECT_EQ(leaky.name, "call_Scaled/inner");
  ASSERT_EQ(leaky.attributes.count("alpha"), 1u);
  EXPECT_EQ(leaky.attributes.at("alpha")->f(), 0.5f);
  EXPECT_NE(prepared.graph.nodes[0].name, prepared.graph.nodes[1].name);
}

TEST(Inline, ResolvesIdentityOfAnInitializer) {
  Prepared prepared(inputPath("identity"));
  ASSERT_EQ(prepared.error, "");
  ASSERT_EQ(prepared.graph.nodes.size(), 2u);
  ASSERT_EQ(prepared.graph.initializers.size(), 1u);
  EXPECT_EQ(prepared.graph.initializers[0].aliases, std::vector<std::string>{"w2"});
  EXPECT_EQ(prepared.graph.nodes[1].inputs[1], prepared.graph.initializers[0].value);
}

} // namespace

// Kernels compared with the interpreter rules.

#include "test/unit/targets/KernelTest.h"

#include "dialects/NN/IR/Program.h"

using namespace mlir;
using namespace dpc;
using namespace dpc::test;

/// `text` with `from` tensors turned into `to` tensors; attributes stay.
static std::string withElementType(std::string text, StringRef to) {
  for (const char *before : {"x", "tensor<"}) {
    std::string from = std::string(before) + "f64", into = std::string(before) + to.str();
    for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += into.size())
      text.replace(at, from.size(), into);
  }
  if (text == "f64")
    return to.str();
  return text;
}

Kernel dpc::test::parseKernel(MLIRContext &context, const OpCase &opCase, StringRef floatType) {
  Kernel kernel;
  std::vector<std::string> types;
  for (const Arg &arg : opCase.args)
    types.push_back(withElementType(arg.type, floatType));
  SmallVector<Arg> args;
  for (const std::string &type : types)
    args.push_back({type.c_str()});
  // Parsed as a function first, whose last op says what the kernel yields.
  kernel.module = parseFunction(context, withElementType(opCase.text, floatType), args);
  if (!kernel.module)
    return kernel;
  func::FuncOp function = functionOf(*kernel.module);
  Block &from = function.getBody().front();
  Operation *end = from.getTerminator(), *last = end->getPrevNode();
  if (isa<nn::UpdateOp>(last)) {
    kernel.op = last;
    return kernel;
  }
  SmallVector<Value> results(last->getResults());
  if (last->getName().getStringRef() == "test.yield")
    results = SmallVector<Value>(last->getOperands());
  OpBuilder builder(end);
  SmallVector<Type> resultTypes;
  for (Value result : results)
    resultTypes.push_back(result.getType());
  auto op = builder.create<nn::KernelOp>(end->getLoc(), resultTypes, from.getArguments());
  kernel.op = op;
  Block &to = op.getBody().emplaceBlock();
  for (BlockArgument argument : from.getArguments())
    argument.replaceUsesWithIf(to.addArgument(argument.getType(), argument.getLoc()),
                               [&](OpOperand &use) { return use.getOwner() != op; });
  to.getOperations().splice(to.end(), from.getOperations(), from.begin(), op->getIterator());
  if (last->getName().getStringRef() == "test.yield")
    results = SmallVector<Value>(last->getOperands()); // now of the kernel
  builder.setInsertionPointToEnd(&to);
  builder.create<nn::YieldOp>(end->getLoc(), results);
  if (last->getName().getStringRef() == "test.yield")
    last->erase();
  return kernel;
}

/// Error of each element against 1 or its size, the larger.
static double errorOf(const HostTensor &got, const HostTensor &expected) {
  double error = 0, scale = 1;
  for (double value : expected.floats)
    if (std::isfinite(value))
      scale = std::max(scale, std::abs(value));
  for (auto [x, y] : llvm::zip_equal(got.floats, expected.floats)) {
    if (x == y || (std::isnan(x) && std::isnan(y)))
      continue;
    double difference = std::abs(x - y) / scale;
    error = std::isnan(difference) ? INFINITY : std::max(error, difference);
  }
  for (auto [x, y] : llvm::zip_equal(got.ints, expected.ints))
    if (x != y)
      error = INFINITY;
  return error;
}

KernelTest::KernelTest() {
  loadDialects(context);
  DialectRegistry registry;
  registerTargets(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
}

void KernelTest::check(const OpCase &opCase, StringRef floatType, double tolerance,
                       MakeKernel make) {
  Kernel kernel = parseKernel(context, opCase, floatType);
  ASSERT_TRUE(kernel.op);
  std::mt19937 random(42);
  SmallVector<HostTensor> operands;
  for (auto [arg, type] : llvm::zip_equal(opCase.args, kernel.op->getOperandTypes())) {
    operands.push_back(randomTensor(type, arg.low, arg.high, random));
    operands.back().roundToType();
  }
  BlockInterpreter interpreter;
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &operand : operands)
    pointers.push_back(&operand);
  SmallVector<HostTensor> expected;
  for (Type type : kernel.op->getResultTypes())
    expected.emplace_back(cast<RankedTensorType>(type));
  ASSERT_TRUE(succeeded(
      cast<InterpretableOpInterface>(kernel.op).interpret(interpreter, pointers, expected)));
  std::unique_ptr<RunnableKernel> compiled = make(kernel.op);
  ASSERT_TRUE(compiled);
  // The interpreter rounds no value inside of the kernel.
  bool hasNarrowValues = false;
  kernel.op->walk([&](Operation *op) {
    for (Value operand : op->getOperands()) {
      auto type = dyn_cast<FloatType>(getElementTypeOrSelf(operand));
      hasNarrowValues |= type && type.getWidth() < 32 && !isa<nn::YieldOp>(op) &&
                         // What a composite is made of may round values of its own.
                         (operand.getDefiningOp() || isa<DecomposableOpInterface>(op));
    }
  });
  auto compare = [&](ArrayRef<int> shared) {
    std::vector<HostTensor> results = compiled->run(operands, shared);
    for (auto [i, result] : llvm::enumerate(results)) {
      if (!result.isFloat())
        expected[i].roundToType();
      unsigned width = result.getType().getElementTypeBitWidth();
      double bound = !result.isFloat() || width == 64 ? tolerance
                     : width < 32 || hasNarrowValues  ? 2e-2
                                                      : std::max(tolerance, 2e-6);
      EXPECT_LE(errorOf(result, expected[i]), bound) << floatType.str() << ", result " << i;
    }
  };
  compare({});
  for (auto [i, aliases] : llvm::enumerate(compiled->code.needs.mayAlias))
    for (unsigned operand : aliases) {
      SmallVector<int> shared(i + 1, -1);
      shared[i] = operand;
      compare(shared);
    }
}

// Padding may hold any number, and dividing by it must not trap.
void KernelTest::expectNoTraps(MakeKernel make) {
  for (const char *op : {"div", "rem", "mod"})
    for (const char *type : {"i32", "ui8", "i64"}) {
      std::string tensor = std::string("3x") + type;
      OpCase opCase{"", {{tensor.c_str()}, {tensor.c_str()}}};
      std::string text = std::string("nn.") + op + " %a, %b : tensor<" + tensor + ">";
      opCase.text = text.c_str();
      Kernel kernel = parseKernel(context, opCase, "f64");
      ASSERT_TRUE(kernel.op);
      auto compiled = make(kernel.op);
      ASSERT_TRUE(compiled);
      Type result = kernel.op->getResult(0).getType();
      bool isUnsigned = type[0] == 'u';
      double least = isUnsigned ? 7 : type[1] == '3' ? -0x1p31 : -0x1p63;
      HostTensor x = tensorOf(result, {5, least, 9}),
                 y = tensorOf(result, {0, isUnsigned ? 2.0 : -1.0, 4});
      std::vector<HostTensor> got = compiled->run({x, y});
      if (std::string(op) == "div" && !isUnsigned) {
        EXPECT_EQ(got[0].ints[1], int64_t(least));
      }
      if (std::string(op) != "div") {
        EXPECT_EQ(got[0].ints[2], 1);
      }
    }
}

// What is computed at several places has the same bits at each: a row's largest
// element is found again by comparing.
void KernelTest::expectEqualElements(MakeKernel make, StringRef name) {
  const char *bodies[] = {
      // Sums of three products, computed where they are read.
      R"(%p = nn.mul %a, %b : tensor<37x29x3xf64>
         %s = nn.reduce sum %p [2] : tensor<37x29x3xf64> -> tensor<37x29xf64>
         %m = nn.reduce max %s [1] : tensor<37x29xf64> -> tensor<37xf64>
         %w = nn.broadcast %m [0] : tensor<37xf64> -> tensor<37x29xf64>
         %e = nn.compare eq %s, %w : tensor<37x29xf64> -> tensor<37x29xi1>
         %n = nn.convert %e : tensor<37x29xi1> -> tensor<37x29xf64>
         nn.reduce sum %n [1] : tensor<37x29xf64> -> tensor<37xf64>)",
      R"(%s = nn.dot %a, %b batch [0, 1] [0, 1] contract [2] [2] : tensor<37x29x3xf64>, tensor<37x29x3xf64> -> tensor<37x29xf64>
         %t = nn.transpose %s [1, 0] : tensor<37x29xf64> -> tensor<29x37xf64>
         %m = nn.reduce max %t [0] : tensor<29x37xf64> -> tensor<37xf64>
         %w = nn.broadcast %m [0] : tensor<37xf64> -> tensor<37x29xf64>
         %e = nn.compare eq %s, %w : tensor<37x29xf64> -> tensor<37x29xi1>
         %n = nn.convert %e : tensor<37x29xi1> -> tensor<37x29xf64>
         nn.reduce sum %n [1] : tensor<37x29xf64> -> tensor<37xf64>)"};
  for (const char *body : bodies) {
    OpCase opCase{body, {{"37x29x3xf64"}, {"37x29x3xf64"}}};
    Kernel kernel = parseKernel(context, opCase, "f32");
    ASSERT_TRUE(kernel.op);
    auto compiled = make(kernel.op);
    ASSERT_TRUE(compiled);
    std::mt19937 random(7);
    HostTensor a =
        randomTensor(RankedTensorType::get({37, 29, 3}, Float32Type::get(&context)), -1, 1, random);
    a.roundToType();
    std::vector<HostTensor> got = compiled->run({a, a});
    for (double count : got[0].floats)
      EXPECT_EQ(count, 1.0) << name.str() << body;
  }
}

// A NaN anywhere in a row is its largest and its smallest element.
void KernelTest::expectNanKept(MakeKernel make, StringRef name) {
  for (const char *kind : {"max", "min"}) {
    std::string text =
        std::string("nn.reduce ") + kind + " %a [1] : tensor<131x131xf64> -> tensor<131xf64>";
    OpCase opCase{text.c_str(), {{"131x131xf64"}}};
    Kernel kernel = parseKernel(context, opCase, "f32");
    ASSERT_TRUE(kernel.op);
    auto compiled = make(kernel.op);
    ASSERT_TRUE(compiled);
    HostTensor x(RankedTensorType::get({131, 131}, Float32Type::get(&context)));
    for (size_t i = 0; i < x.floats.size(); ++i)
      x.floats[i] = i / 132 * 132 == i ? NAN : double(i % 7) - 3;
    std::vector<HostTensor> got = compiled->run({x});
    for (double value : got[0].floats)
      EXPECT_TRUE(std::isnan(value)) << name.str() << " " << kind;
  }
}

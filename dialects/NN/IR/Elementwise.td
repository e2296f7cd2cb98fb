#ifndef DPC_DIALECTS_NN_IR_ELEMENTWISE_TD
#define DPC_DIALECTS_NN_IR_ELEMENTWISE_TD

include "dialects/NN/IR/NNBase.td"

// Base of the ops of this file. Element i of the result depends only on element i
// of each operand, and all operands have the shape of the result. `additive` lists
// the sets of operands in which the op is additive, and `monotone` says whether it
// is monotone (ShardingRule).
class NN_ElementwiseOp<string mnemonic, list<Trait> traits = [], string additive = "{}", bit monotone = 0>
    : NN_Op<mnemonic, !listconcat([
        Pure, SameOperandsAndResultShape, NN_Interpretable, ShardableOpInterface,
        ElementwiseOpInterface, CostOpInterface], traits)> {
  let extraClassDeclaration = [{
    ::dpc::ShardingRule getShardingRule() {
      ::dpc::ShardingRule rule = ::dpc::elementwiseShardingRule(*this);
      rule.additiveSets = }] # additive # [{;
      rule.monotone = }] # !if(monotone, "true", "false") # [{;
      return rule;
    }
    int64_t getFlops() {
      return ::dpc::nn::typeOf(getResult()).getNumElements();
    }
  }];
}

/// Base of ops whose operand and result have the same type. `formula` is the
/// formula of the op. `vjp` is the formula of the operand's gradient, where g is
/// the gradient of the result.
class NN_UnaryOp<string mnemonic, Type type, string formula, string vjp, list<Trait> traits = [],
                 string additive = "{}", bit monotone = 0>
    : NN_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits), additive, monotone> {
  let summary = formula;
  string example = !if(!eq(type, NN_IntTensor), "tensor<4x8xi32>", "tensor<4x8xf32>");
  let description = [{
    }] # formula # [{, for each element x of the operand. Gradient: }] # vjp # [{.

    ```mlir
    func.func @example(%x: }] # example # [{) {
      %y = nn.}] # mnemonic # [{ %x : }] # example # [{
      return
    }
    ```
  }];
  let arguments = (ins type:$input);
  let results = (outs type:$result);
  let assemblyFormat = "$input attr-dict `:` type($result)";
}
class NN_FloatUnaryOp<string mnemonic, string formula, string vjp>
    : NN_UnaryOp<mnemonic, NN_FloatTensor, formula, vjp, [NN_Differentiable]>;

class NN_BinaryOp<string mnemonic, Type type, string formula, string vjp, list<Trait> traits = [],
                  string additive = "{}">
    : NN_ElementwiseOp<mnemonic, !listconcat([SameOperandsAndResultType], traits), additive> {
  let summary = formula;
  string example = !if(!eq(type, NN_IntTensor), "tensor<4x8xi32>", "tensor<4x8xf32>");
  let description = [{
    }] # formula # [{, element by element. Gradients: }] # vjp # [{.

    ```mlir
    func.func @example(%x: }] # example # [{, %y: }] # example # [{) {
      %z = nn.}] # mnemonic # [{ %x, %y : }] # example # [{
      return
    }
    ```
  }];
  let arguments = (ins type:$lhs, type:$rhs);
  let results = (outs type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($result)";
}

def NN_NegOp : NN_UnaryOp<"neg", NN_Tensor, "-x", "-g", [NN_Differentiable, PrecisionOpInterface], "{{0}}">;
def NN_AbsOp : NN_UnaryOp<"abs", NN_Tensor, "|x|", "g sign(x), 0 at 0", [NN_Differentiable, PrecisionOpInterface]>;
def NN_SignOp : NN_UnaryOp<"sign", NN_Tensor, "-1, 0 or 1 by the sign of x", "0", [NN_Differentiable]>;
def NN_ReluOp : NN_UnaryOp<"relu", NN_Tensor, "max(x, 0)", "g where x > 0", [NN_Differentiable, PrecisionOpInterface], "{}", 1>;

def NN_ExpOp : NN_FloatUnaryOp<"exp", "e^x", "g e^x">;
def NN_LogOp : NN_FloatUnaryOp<"log", "ln x", "g / x">;
def NN_Log1pOp : NN_FloatUnaryOp<"log1p", "ln(1 + x)", "g / (1 + x)">;
def NN_SqrtOp : NN_FloatUnaryOp<"sqrt", "square root of x", "g / (2 sqrt x)">;
def NN_RsqrtOp : NN_FloatUnaryOp<"rsqrt", "1 / square root of x", "-g rsqrt(x) / (2 x)">;
def NN_SinOp : NN_FloatUnaryOp<"sin", "sin x", "g cos x">;
def NN_CosOp : NN_FloatUnaryOp<"cos", "cos x", "-g sin x">;
def NN_TanOp : NN_FloatUnaryOp<"tan", "tan x", "g (1 + tan^2 x)">;
def NN_AsinOp : NN_FloatUnaryOp<"asin", "arcsin x", "g / sqrt(1 - x^2)">;
def NN_AcosOp : NN_FloatUnaryOp<"acos", "arccos x", "-g / sqrt(1 - x^2)">;
def NN_AtanOp : NN_FloatUnaryOp<"atan", "arctan x", "g / (1 + x^2)">;
def NN_SinhOp : NN_FloatUnaryOp<"sinh", "sinh x", "g cosh x">;
def NN_CoshOp : NN_FloatUnaryOp<"cosh", "cosh x", "g sinh x">;
def NN_TanhOp : NN_FloatUnaryOp<"tanh", "tanh x", "g (1 - tanh^2 x)">;
def NN_AsinhOp : NN_FloatUnaryOp<"asinh", "arsinh x", "g / sqrt(x^2 + 1)">;
def NN_AcoshOp : NN_FloatUnaryOp<"acosh", "arcosh x", "g / sqrt(x^2 - 1)">;
def NN_AtanhOp : NN_FloatUnaryOp<"atanh", "artanh x", "g / (1 - x^2)">;
def NN_ErfOp : NN_FloatUnaryOp<"erf", "error function of x", "g 2/sqrt(pi) e^(-x^2)">;
def NN_SigmoidOp : NN_FloatUnaryOp<"sigmoid", "1 / (1 + e^-x)", "g s (1 - s)">;
def NN_SoftplusOp : NN_FloatUnaryOp<"softplus", "ln(1 + e^x), without overflow", "g sigmoid(x)">;
def NN_FloorOp : NN_FloatUnaryOp<"floor", "the largest integer <= x", "0">;
def NN_CeilOp : NN_FloatUnaryOp<"ceil", "the smallest integer >= x", "0">;
def NN_RoundOp : NN_FloatUnaryOp<"round", "the nearest integer, halves to even", "0">;

// Base of ops whose result is their operand, but whose gradient is not that of the
// identity.
class NN_GradientFormOp<string mnemonic, string formula, string vjp>
    : NN_UnaryOp<mnemonic, NN_FloatTensor, formula, vjp, [
        NN_Differentiable, PrecisionOpInterface,
        DeclareOpInterfaceMethods<GradientFormOpInterface, ["stopsGradient"]>], "{{0}}"> {
  let extraClassDefinition = [{
    ::mlir::Value $cppClass::getForward() { return getInput(); }
    bool $cppClass::stopsGradient() { return true; }
  }];
}
def NN_StopGradientOp : NN_GradientFormOp<"stop_gradient", "x, without a gradient", "0">;

def NN_GeluOp : NN_ElementwiseOp<"gelu", [SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "Gaussian error linear unit";
  let description = [{
    x Phi(x), where Phi is the standard normal distribution function. With `none`,
    Phi is computed with `erf`. With `tanh`, the op computes the approximation 0.5 x
    (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))) of Hendrycks and Gimpel (arXiv
    1606.08415). The formula is one op because one kernel computes it fast.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>) {
      %y = nn.gelu tanh %x : tensor<8x16xf32>
      return
    }
    ```
  }];
  let arguments = (ins NN_GeluApproximation:$approximation, NN_FloatTensor:$input);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$approximation $input attr-dict `:` type($result)";
}

def NN_NotOp : NN_UnaryOp<"not", NN_IntTensor, "bitwise complement of x", "none">;

class NN_PredicateOp<string mnemonic, string formula> : NN_ElementwiseOp<mnemonic> {
  let summary = formula;
  let description = [{
    }] # formula # [{, for each element x of the operand.

    ```mlir
    func.func @example(%x: tensor<4xf32>) {
      %m = nn.}] # mnemonic # [{ %x : tensor<4xf32> -> tensor<4xi1>
      return
    }
    ```
  }];
  let arguments = (ins NN_FloatTensor:$input);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
}
def NN_IsNanOp : NN_PredicateOp<"is_nan", "true where x is not a number">;
def NN_IsInfOp : NN_PredicateOp<"is_inf", "true where x is infinite">;

def NN_AddOp : NN_BinaryOp<"add", NN_Tensor, "x + y", "g, g", [NN_Differentiable], "{{0, 1}}">;
def NN_SubOp : NN_BinaryOp<"sub", NN_Tensor, "x - y", "g, -g", [NN_Differentiable], "{{0, 1}}">;
def NN_MulOp : NN_BinaryOp<"mul", NN_Tensor, "x y", "g y, g x", [NN_Differentiable], "{{0}, {1}}">;
def NN_DivOp : NN_BinaryOp<"div", NN_Tensor, "x / y; integers towards zero",
    "g / y, -g x / y^2", [NN_Differentiable],
    "::dpc::additiveIfFloats(*this)">;
def NN_PowOp : NN_BinaryOp<"pow", NN_Tensor, "x^y",
    "g y x^(y-1), 0 where y is 0; g x^y ln x, 0 where x is 0 and y >= 0", [NN_Differentiable]>;
def NN_MaxOp : NN_BinaryOp<"max", NN_Tensor, "the larger of x and y; not a number if either is",
    "g to the larger, half each where equal", [NN_Differentiable, PrecisionOpInterface]>;
def NN_MinOp : NN_BinaryOp<"min", NN_Tensor, "the smaller of x and y; not a number if either is",
    "g to the smaller, half each where equal", [NN_Differentiable, PrecisionOpInterface]>;
def NN_RemOp : NN_BinaryOp<"rem", NN_Tensor, "remainder of x / y with the sign of x",
    "g, -g trunc(x / y)", [NN_Differentiable]>;
def NN_ModOp : NN_BinaryOp<"mod", NN_Tensor, "remainder of x / y with the sign of y",
    "g, -g floor(x / y)", [NN_Differentiable]>;
def NN_AndOp : NN_BinaryOp<"and", NN_IntTensor, "bitwise and", "none">;
def NN_OrOp : NN_BinaryOp<"or", NN_IntTensor, "bitwise or", "none">;
def NN_XorOp : NN_BinaryOp<"xor", NN_IntTensor, "bitwise exclusive or", "none">;
def NN_ShiftLeftOp : NN_BinaryOp<"shift_left", NN_IntTensor, "x << y", "none">;
def NN_ShiftRightOp : NN_BinaryOp<"shift_right", NN_IntTensor, "x >> y, filled with zeros", "none">;

def NN_CompareOp : NN_ElementwiseOp<"compare", [AllTypesMatch<["lhs", "rhs"]>]> {
  let summary = "Compares two tensors";
  let description = [{
    An element of the result is true if the comparison holds for the elements of
    `lhs` and `rhs`. If one of them is a NaN, every comparison except `ne` is false.
    Unsigned integers are compared as unsigned.

    ```mlir
    func.func @example(%a: tensor<4xf32>, %b: tensor<4xf32>) {
      %m = nn.compare lt %a, %b : tensor<4xf32> -> tensor<4xi1>
      return
    }
    ```

    Constraints: (C1) both operands have one element type.
  }];
  let arguments = (ins NN_Comparison:$comparison, NN_Tensor:$lhs, NN_Tensor:$rhs);
  let results = (outs NN_BoolTensor:$result);
  let assemblyFormat = "$comparison $lhs `,` $rhs attr-dict `:` type($lhs) `->` type($result)";
  let builders = [OpBuilder<(ins "::dpc::nn::Comparison":$comparison,
                                 "::mlir::Value":$lhs, "::mlir::Value":$rhs)>];
}

def NN_SelectOp : NN_ElementwiseOp<"select", [
    NN_Differentiable, PrecisionOpInterface, AllTypesMatch<["onTrue", "onFalse", "result"]>], "{{1, 2}}"> {
  let summary = "condition ? x : y";
  let description = [{
    Selects element by element. The gradient of the result goes to `onTrue` if the
    condition holds, otherwise to `onFalse`; the other operand gets zero. The gradients
    are selects and not products with the condition, because 0 times a NaN is a NaN.

    ```mlir
    func.func @example(%c: tensor<4xi1>, %a: tensor<4xf32>, %b: tensor<4xf32>) {
      %r = nn.select %c, %a, %b : tensor<4xi1>, tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins NN_BoolTensor:$condition, NN_Tensor:$onTrue, NN_Tensor:$onFalse);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$condition `,` $onTrue `,` $onFalse attr-dict `:` type($condition) `,` type($result)";
}

def NN_ClampOp : NN_ElementwiseOp<"clamp", [SameOperandsAndResultType, NN_Differentiable]> {
  let summary = "min(max(x, low), high)";
  let description = [{
    The gradient of the result goes to `input` if low < x < high. The gradient is 0 at
    both bounds, as in PyTorch 2.15 for clamp, relu6, hardtanh and hardswish. The
    operands `low` and `high` get no gradient.

    ```mlir
    func.func @example(%x: tensor<4xf32>, %low: tensor<4xf32>, %high: tensor<4xf32>) {
      %y = nn.clamp %x, %low, %high : tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$low, NN_Tensor:$high);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `,` $low `,` $high attr-dict `:` type($result)";
}

def NN_ConvertOp : NN_ElementwiseOp<"convert", [NN_Differentiable],
    "::dpc::additiveIfFloats(*this)"> {
  let summary = "Converts the element type";
  let description = [{
    A conversion between floats rounds to nearest even. A conversion from floats to
    integers truncates towards zero. A conversion between integers wraps around. A
    conversion to i1 gives true for numbers that are not zero. If both types are
    floats, the gradient of the operand is that of the result, converted back.

    ```mlir
    func.func @example(%x: tensor<4xf32>) {
      %y = nn.convert %x : tensor<4xf32> -> tensor<4xi64>
      return
    }
    ```
  }];
  let arguments = (ins NN_Tensor:$input);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
}

#endif // DPC_DIALECTS_NN_IR_ELEMENTWISE_TD

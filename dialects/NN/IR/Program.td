#ifndef DPC_DIALECTS_NN_IR_PROGRAM_TD
#define DPC_DIALECTS_NN_IR_PROGRAM_TD

include "dialects/NN/IR/NNBase.td"
include "mlir/IR/SymbolInterfaces.td"

def NN_VariableOp : NN_Op<"variable"> {
  let summary = "A state with its initial value";
  let description = [{
    `tensor_name` is the name that arguments (`#nn.arg`) and files use for the state. It
    is the name of the ONNX initializer, or the PyTorch module's name of a restored
    parameter. For optimizer state it is `SLOT|PARAMETER`, or a name such as
    `loss_scale` if the state belongs to no parameter. The name is not a symbol, because
    a model may have a tensor named `step`, which is also the name of a function. The op
    only has the initial value; functions take the current value as an argument.

    Frontends, `dpc-apply-optimizer` and `dpc-differentiate` (for the loss scale) create
    the op. It stays in the MLIR module to the last level; the folder `record` writes
    the initial values of the program from it.

    ```mlir
    nn.variable @"fc.weight" = dense<0.5> : tensor<4x4xf32>
    ```

    Constraints:

    * (C1) The type is a tensor of static shape.
  }];
  let arguments = (ins SymbolNameAttr:$tensor_name, ElementsAttr:$value);
  let assemblyFormat = "$tensor_name `=` $value attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getType() {
      return ::llvm::cast<::mlir::RankedTensorType>(getValue().getType());
    }
  }];
}

def NN_ConstantOp : NN_Op<"constant", [
    Pure, ConstantLike, AllTypesMatch<["value", "result"]>,
    NN_Interpretable, NN_Shardable, NN_Moves, NN_Fusable]> {
  let summary = "A tensor known at compile time";
  let description = [{
    If all elements are equal, the value is a splat of the full shape. A large value
    that is neither trained nor a splat becomes an `nn.variable` instead, and an
    argument of the kind `constant`.

    ```mlir
    %half = nn.constant dense<0.5> : tensor<8x16xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let builders = [OpBuilder<(ins "::mlir::Type":$type, "double":$splat)>];
}

def NN_UpdateOp : NN_Op<"update", [
    Pure, SingleBlock, IsolatedFromAbove, AttrSizedOperandSegments,
    DeclareOpInterfaceMethods<KernelOpInterface, ["updatesState"]>, NN_Interpretable,
    NN_Shardable, NN_Computes]> {
  let summary = "An elementwise update of state, with named scalars";
  let description = [{
    The region computes element i of each result from element i of all `tensors` and
    from the `scalars`. It has only elementwise ops and constants, on tensors of rank 0.
    Therefore an update can run on any layout that all its tensors have, and on flat
    storage. Two updates with equal regions can be joined into one.

    `dpc-apply-optimizer` creates the op. `dpc-divide-updates` joins the updates of
    the tensors in one flat storage. Each update becomes one loop.

    ```mlir
    func.func @example(%p: tensor<4xf32>, %g: tensor<4xf32>, %lr: tensor<f32>) {
      %p1 = nn.update (%p, %g : tensor<4xf32>, tensor<4xf32>) scalars (%lr : tensor<f32>) {
      ^bb0(%pi: tensor<f32>, %gi: tensor<f32>, %l: tensor<f32>):
        %d = nn.mul %l, %gi : tensor<f32>
        %n = nn.sub %pi, %d : tensor<f32>
        nn.yield %n : tensor<f32>
      } -> tensor<4xf32>
      return
    }
    ```

    Constraints:

    * (C1) All `tensors` and all results have one shape.
    * (C2) Region arguments are rank-0 tensors of the element types of `tensors`
      and then `scalars`.
    * (C3) The region yields one rank-0 tensor per result, of its element type.
    * (C4) Region ops are elementwise or constants.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$tensors,
                       Variadic<0DTensorOf<[AnyFloat, AnyInteger]>>:$scalars);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` $tensors `:` type($tensors) `)`
    `scalars` `(` ($scalars^ `:` type($scalars))? `)` attr-dict-with-keyword
    $body `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

def NN_KernelOp : NN_Op<"kernel", [
    Pure, SingleBlock, IsolatedFromAbove, KernelOpInterface, NN_Interpretable,
    DeclareOpInterfaceMethods<CostOpInterface, ["getFlops"]>]> {
  let summary = "A group of ops that becomes one function of generated code";
  let description = [{
    The region computes the results from its arguments, which represent the operands.
    Operands and results are in memory. Values inside the region are in registers, or
    in scratch memory if they are read in another order than they are computed.

    `dpc-form-kernels` creates the op. It becomes one function of generated code. All
    kernels with equal regions share one function.

    ```mlir
    func.func @example(%x: tensor<8x4xf32>, %b: tensor<4xf32>) {
      %y = nn.kernel (%x, %b : tensor<8x4xf32>, tensor<4xf32>) {
      ^bb0(%xi: tensor<8x4xf32>, %bi: tensor<4xf32>):
        %0 = nn.broadcast %bi [1] : tensor<4xf32> -> tensor<8x4xf32>
        %1 = nn.add %xi, %0 : tensor<8x4xf32>
        nn.yield %1 : tensor<8x4xf32>
      } -> tensor<8x4xf32>
      return
    }
    ```

    Constraints:

    * (C1) Region arguments have the types of the operands.
    * (C2) The region yields values of the types of the results.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$inputs);
  let results = (outs Variadic<NN_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` ($inputs^ `:` type($inputs))? `)` attr-dict-with-keyword $body
    `->` type($results)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

def NN_AfterOp : NN_Op<"after", [
    Pure, AllTypesMatch<["input", "result"]>, NN_Interpretable, NN_Fusable]> {
  let summary = "A value that no op reads before another value is computed";
  let description = [{
    The result is `input`; no data is moved. Because the op reads `trigger`, ops that
    read the result run after `trigger` is computed, and never in the kernel that
    computes `input`.

    `dpc-remat` creates the op, so that values are not computed again too early.
    `dpc-lower-to-exec` replaces it by a view of the buffer of `input`.

    ```mlir
    func.func @example(%x: tensor<8x16xf32>, %gradient: tensor<4xf32>) {
      %y = nn.after %x, %gradient : tensor<8x16xf32>, tensor<4xf32>
      return
    }
    ```
  }];
  let arguments = (ins NN_Tensor:$input, NN_Tensor:$trigger);
  let results = (outs NN_Tensor:$result);
  let assemblyFormat = "$input `,` $trigger attr-dict `:` type($input) `,` type($trigger)";
}

def NN_YieldOp : NN_Op<"yield", [
    Pure, Terminator, ParentOneOf<["KernelOp", "UpdateOp"]>]> {
  let summary = "Ends a region and returns its values";
  let description = [{
    Ends the region of an `nn.update` or `nn.kernel`. Its operands are the results of
    the region.
  }];
  let arguments = (ins Variadic<NN_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{}]>];
}

#endif // DPC_DIALECTS_NN_IR_PROGRAM_TD

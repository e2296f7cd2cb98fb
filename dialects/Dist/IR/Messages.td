#ifndef DPC_DIALECTS_DIST_IR_MESSAGES_TD
#define DPC_DIALECTS_DIST_IR_MESSAGES_TD

include "dialects/Dist/IR/DistBase.td"

def Dist_CombineStagesOp
    : Dist_Op<"combine_stages", [Pure, Dist_Interpretable, SameOperandsAndResultType]> {
  let summary = "Adds terms that different stages of a pipeline compute";
  let description = [{
    The result is the sum of the operands. When the program is cut into stages, each
    stage adds the terms that it computes, and one `dist.stage_reduce` adds the sums of
    the stages. Therefore the result is available on every stage that reads it.

    `dpc-assign-stages` creates the op for a gradient to which several stages add, e.g.
    that of a tied weight, and for norms over tensors of several stages.
    `dpc-cut-stages` replaces it.

    ```mlir
    func.func @example(%a: tensor<4xf32>, %b: tensor<4xf32>) {
      %y = dist.combine_stages %a, %b : tensor<4xf32>
      return
    }
    ```

    Constraints: (C1) there is at least one operand.
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$terms);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$terms attr-dict `:` type($result)";
}

class Dist_MessageOp<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic,
              !listconcat([Dist_Interpretable, DeclareOpInterfaceMethods<SymbolUserOpInterface>],
                          traits)>;

def Dist_SendOp : Dist_MessageOp<"send", [MemoryEffects<[MemWrite]>]> {
  let summary = "Sends a tensor to another stage of a pipeline";
  let description = [{
    The device sends the operand to its counterpart in the stage `stage`: the device
    whose coordinates are equal on all axes except `axis`. A `dist.recv` with the same
    `number` receives it there. The op does not wait for the receiver. In a loop, every
    iteration sends one message, and messages of one number arrive in order. `backward`
    says that the receiving chunk of the pipeline comes before the sending one.

    `dpc-cut-stages` creates the op.

    ```mlir
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @example(%x: tensor<4x8xf32>) {
      dist.send %x to 1 on @mesh "pipe" number 3 : tensor<4x8xf32>
      return
    }
    ```

    Constraints: (C1) `mesh` names a `dist.mesh`; (C2) `axis` is a parallel axis of the
    mesh; (C3) `stage` is a coordinate on this axis.
  }];
  let arguments = (ins Dist_Tensor:$input, I64Attr:$stage, FlatSymbolRefAttr:$mesh, StrAttr:$axis,
      I64Attr:$number, UnitAttr:$backward);
  let assemblyFormat = [{
    $input `to` $stage (`backward` $backward^)? `on` $mesh $axis `number` $number attr-dict
    `:` type($input)
  }];
}

def Dist_RecvOp : Dist_MessageOp<"recv", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "Receives a tensor from another stage of a pipeline";
  let description = [{
    The result is the tensor that the device's counterpart in the stage `stage` sends
    with the same `number` (`dist.send`). `chunk` is the chunk of the pipeline that reads
    the result first: in its backward pass if `backward` is set, and in its forward pass
    otherwise. Without `chunk`, it is the first chunk of the stage.

    `dpc-cut-stages` creates the op.

    ```mlir
    dist.mesh @mesh axes ["pipe"] sizes [2]
    func.func @example() {
      %x = dist.recv from 0 on @mesh "pipe" number 3 : tensor<4x8xf32>
      return
    }
    ```

    Constraints: (C1) to (C3) as for `dist.send`.
  }];
  let arguments = (ins I64Attr:$stage, FlatSymbolRefAttr:$mesh, StrAttr:$axis, I64Attr:$number,
      OptionalAttr<I64Attr>:$chunk, UnitAttr:$backward);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    `from` $stage (`for` `chunk` $chunk^)? (`backward` $backward^)? `on` $mesh $axis
    `number` $number attr-dict `:` type($result)
  }];
}

def Dist_StageReduceOp : Dist_MessageOp<"stage_reduce", [
    MemoryEffects<[MemRead, MemWrite]>, SameOperandsAndResultType]> {
  let summary = "Adds a tensor over some stages of a pipeline";
  let description = [{
    Each device gets the sum of the operands of its counterparts in the listed stages.
    All devices of these stages run an op with the same `number`.

    `dpc-cut-stages` creates the op from `dist.combine_stages`.

    ```mlir
    dist.mesh @mesh axes ["pipe"] sizes [3]
    func.func @example(%x: tensor<4xf32>) {
      %y = dist.stage_reduce %x among [0, 2] on @mesh "pipe" number 7 : tensor<4xf32>
      return
    }
    ```

    Constraints: (C1), (C2) as for `dist.send`; (C3) `stages` lists at least two
    coordinates on this axis, in increasing order.
  }];
  let arguments = (ins Dist_Tensor:$input, DenseI64ArrayAttr:$stages, FlatSymbolRefAttr:$mesh,
      StrAttr:$axis, I64Attr:$number);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = [{
    $input `among` $stages `on` $mesh $axis `number` $number attr-dict `:` type($result)
  }];
}

#endif // DPC_DIALECTS_DIST_IR_MESSAGES_TD

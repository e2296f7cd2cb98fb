#ifndef DPC_DIALECTS_DIST_IR_COLLECTIVES_TD
#define DPC_DIALECTS_DIST_IR_COLLECTIVES_TD

include "dialects/Dist/IR/DistBase.td"

def Dist_MeshOp : Dist_Op<"mesh", [Symbol]> {
  let summary = "Names a grid of devices";
  let description = [{
    Devices are numbered in row-major order over the parallel axes; the coordinate
    on the last axis varies fastest. A sequential axis has no devices: every device
    iterates over it in a loop (`dist.micro`). Therefore the number of devices is
    the product of the sizes of the parallel axes.

    `dpc-assign-layouts` creates the op. It stays in the module to the last level;
    `record/Mesh.cpp` writes the mesh of the program record from it.

    ```mlir
    dist.mesh @mesh axes ["micro", "data", "model"] sizes [2, 4, 2] sequential ["micro"]
    ```

    Constraints:

    * (C1) `axes` and `sizes` have the same length.
    * (C2) Every size is at least 1.
    * (C3) The names of the axes are distinct identifiers.
    * (C4) `sequential` lists axes of the mesh.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrArrayAttr:$axes,
                       DenseI64ArrayAttr:$sizes, OptionalAttr<StrArrayAttr>:$sequential);
  let assemblyFormat = [{
    $sym_name `axes` $axes `sizes` $sizes (`sequential` $sequential^)? attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::dpc::dist::MeshShape getShape();
  }];
}

def Dist_AxisIndexOp : Dist_Op<"axis_index", [Pure, Dist_Interpretable]> {
  let summary = "This device's coordinate on a mesh axis";
  let description = [{
    For a sequential axis, the coordinate is the number of the current iteration of the
    enclosing loop. Apart from `dist.shard`, only this op makes devices compute
    different values from equal operands without communication. Control flow must not
    depend on the coordinate, because devices would then disagree on which collectives
    they reach.

    `dpc-partition` and `dpc-divide-updates` create the op. `dpc-lower-to-exec`
    replaces it by a persistent buffer with the coordinate or, for a sequential axis,
    by `exec.microbatch`.

    ```mlir
    %i = dist.axis_index "data" : tensor<i64>
    ```
  }];
  let arguments = (ins StrAttr:$axis);
  let results = (outs 0DTensorOf<[I64]>:$result);
  let assemblyFormat = "$axis attr-dict `:` type($result)";
}

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", [SameOperandsAndResultType]> {
  let summary = "Combines a tensor over the devices of some mesh axes";
  let description = [{
    Each device gets the elementwise `reduction` of the inputs of all devices in its
    group.

    `dpc-partition` creates the op for a partial value that must be reduced, and
    `dpc-divide-updates` for sums over shards, e.g. of norms. `dpc-bucket-collectives`
    joins several of them into one. `dpc-lower-to-exec` replaces it by an `exec.start`
    and an `exec.wait`.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%g0: tensor<64x64xf32>) {
      %g1 = dist.all_reduce sum %g0 on @mesh ["data"] : tensor<64x64xf32>
      return
    }
    ```

    Constraints:

    * (C1) `mesh` names a `dist.mesh`.
    * (C2) Every entry of `axes` is a parallel axis of that mesh, listed once.
  }];
  let arguments = (ins Dist_Reduction:$reduction, Dist_Tensor:$input,
                       FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$reduction $input `on` $mesh $axes attr-dict `:` type($result)";
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather"> {
  let summary = "Stacks a tensor over the devices of some mesh axes";
  let description = [{
    Each device gets the inputs of all devices in its group, stacked along a new
    first dimension in the order of the devices' numbers in the group.

    `dpc-partition` creates the op for a reshard that makes a sharded dimension
    replicated. `dpc-divide-updates` creates it to gather updated parameters.
    `dpc-lower-to-exec` replaces it by an `exec.start` and an `exec.wait`.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%x: tensor<4x8xf32>) {
      %y = dist.all_gather %x on @mesh ["data"] : tensor<4x8xf32> -> tensor<2x4x8xf32>
      return
    }
    ```

    Constraints: (C1), (C2) as for `dist.all_reduce`; (C3) the result has the
    group's size before the operand's dimensions.
  }];
  let arguments = (ins Dist_Tensor:$input, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `on` $mesh $axes attr-dict `:` type($input) `->` type($result)";
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter"> {
  let summary = "Combines a tensor over devices and gives each device its shard";
  let description = [{
    Computes the elementwise `reduction` of the inputs of all devices in the group.
    Member i of the group gets slice i of it along the first dimension. The result
    does not have this dimension.

    `dpc-partition` creates the op for a reshard that turns a partial value into a
    sharded value. `dpc-divide-updates` creates it for gradients.
    `dpc-lower-to-exec` replaces it by an `exec.start` and an `exec.wait`.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%x: tensor<2x4x8xf32>) {
      %y = dist.reduce_scatter sum %x on @mesh ["data"] : tensor<2x4x8xf32> -> tensor<4x8xf32>
      return
    }
    ```

    Constraints: (C1), (C2) as for `dist.all_reduce`; (C3) the operand has the
    group's size before the result's dimensions.
  }];
  let arguments = (ins Dist_Reduction:$reduction, Dist_Tensor:$input,
                       FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$reduction $input `on` $mesh $axes attr-dict `:` type($input) `->` type($result)";
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all", [SameOperandsAndResultType]> {
  let summary = "Gives each device a slice of the tensor of every other device";
  let description = [{
    Each device sends slice j of its operand along the first dimension to member j
    of its group. Slice i of its result comes from member i.

    `dpc-partition` creates the op for a reshard after which an axis shards another
    dimension than before. `dpc-lower-to-exec` replaces it by an `exec.start` and an
    `exec.wait`. Operand and result get buffers that do not overlap.

    ```mlir
    dist.mesh @mesh axes ["data"] sizes [2]
    func.func @example(%x: tensor<2x4x8xf32>) {
      %y = dist.all_to_all %x on @mesh ["data"] : tensor<2x4x8xf32>
      return
    }
    ```

    Constraints: (C1), (C2) as for `dist.all_reduce`; (C3) the first dimension has
    the group's size.
  }];
  let arguments = (ins Dist_Tensor:$input, FlatSymbolRefAttr:$mesh, StrArrayAttr:$axes);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `on` $mesh $axes attr-dict `:` type($result)";
}

def Dist_ReshardOp : Dist_Op<"reshard", [Pure, SameOperandsAndResultType]> {
  let summary = "Changes how a logical tensor lies on the mesh";
  let description = [{
    The logical tensor stays the same: `from` is the layout of the operand, and `to`
    is the layout of the result.

    `dpc-assign-layouts` creates the op before an op that reads a value in another
    layout than the layout in which the value is computed. `dpc-partition` replaces
    it by collectives and slices, or by its operand if no data has to move.

    ```mlir
    func.func @example(%x: tensor<8xf32>) {
      %y = dist.reshard %x from <"[8] partial sum(data)"> to <"[8]"> : tensor<8xf32>
      return
    }
    ```

    Constraints: (C1) both layouts are of the tensor's shape.
  }];
  let arguments = (ins Dist_Tensor:$input, Dist_LayoutAttr:$from, Dist_LayoutAttr:$to);
  let results = (outs Dist_Tensor:$result);
  let assemblyFormat = "$input `from` $from `to` $to attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Dist_MicroOp : Dist_Op<"micro", [
    RecursiveMemoryEffects, RecursivelySpeculatable, SingleBlock, IsolatedFromAbove,
    Dist_Interpretable]> {
  let summary = "Runs a region once for each microbatch";
  let description = [{
    The region runs `count` times. For an operand of the kind `whole`, every
    iteration gets the complete value. For an operand of the kind `sliced`,
    iteration m gets slice m of its first dimension. A result of the kind `stacked`
    has the values of all iterations along a new first dimension. A result of the
    kind `summed` is the sum of the values of all iterations. The op stays a loop in
    the compiled program, so the size of the program does not depend on `count`.

    `dpc-partition` creates the op. `dpc-lower-to-exec` replaces it by an
    `exec.loop`.

    ```mlir
    func.func @example(%x: tensor<2x4x8xf32>, %w: tensor<8xf32>) {
      %s = dist.micro 2 "micro" (%x, %w : tensor<2x4x8xf32>, tensor<8xf32>) operands [sliced, whole] {
      ^bb0(%xm: tensor<4x8xf32>, %wm: tensor<8xf32>):
        %r = nn.dot %xm, %wm contract [1] [0] : tensor<4x8xf32>, tensor<8xf32> -> tensor<4xf32>
        dist.yield %r : tensor<4xf32>
      } -> (tensor<4xf32>) results [summed]
      return
    }
    ```

    Constraints: (C1) each operand has the kind whole or sliced, and each result has
    the kind stacked or summed; (C2) region arguments and yielded values have the
    types that follow from the kinds.
  }];
  let arguments = (ins I64Attr:$count, StrAttr:$axis, Variadic<Dist_Tensor>:$inputs,
                       DenseI32ArrayAttr:$operandKinds, DenseI32ArrayAttr:$resultKinds);
  let results = (outs Variadic<Dist_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $count $axis `(` ($inputs^ `:` type($inputs))? `)` `operands` custom<MicroKinds>($operandKinds)
    $body `->` custom<MicroTypes>(type($results)) `results` custom<MicroKinds>($resultKinds) attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
    MicroKind getOperandKind(unsigned index) {
      return static_cast<MicroKind>(getOperandKinds()[index]);
    }
    MicroKind getResultKind(unsigned index) {
      return static_cast<MicroKind>(getResultKinds()[index]);
    }
  }];
}

def Dist_YieldOp : Dist_Op<"yield", [Pure, Terminator, ParentOneOf<["MicroOp", "PieceOp"]>]> {
  let summary = "Ends the region of a microbatch loop or of a piece and returns its values";
  let description = [{
    Ends the body of a `dist.micro` or `dist.piece`. In a loop, the operands are the
    values of one iteration. There is one operand for each result.
  }];
  let arguments = (ins Variadic<Dist_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // DPC_DIALECTS_DIST_IR_COLLECTIVES_TD

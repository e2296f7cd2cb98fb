#ifndef DPC_DIALECTS_EXEC_IR_EXECOPS_TD
#define DPC_DIALECTS_EXEC_IR_EXECOPS_TD

include "dialects/Exec/IR/ExecAttrs.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Exec_Buffer : StaticShapeMemRefOf<[AnyFloat, AnyInteger]>;

class Exec_Op<string mnemonic, list<Trait> traits = []>
    : Op<Exec_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Module level
//===----------------------------------------------------------------------===//

def Exec_ResidentOp : Exec_Op<"resident", [Symbol]> {
  let summary = "A buffer that lives as long as the program";
  let description = [{
    A persistent buffer: it holds a piece of state, an input, a metric or an
    output, as `binding` says, and the host finds it by that name. `layout` is the
    layout that the argument had; `offset` is bytes from the start of the space.

    Made by `dpc-lower-to-exec`; placed by `dpc-assign-offsets`; becomes a tensor
    of the program record.

    ```mlir
    exec.resident @state.w #nn.arg<parameter "w"> arena at 0 : memref<4x3xf32>
    ```

    With a `#dist.storage` it holds several pieces of state, end to end; `layout`
    is then that of all of them.

    Constraints: (C1) `binding` is a #nn.arg that is no control, a #nn.result that
    is a metric or an output, or a #dist.storage.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, AnyAttr:$binding, Exec_Space:$space,
                       OptionalAttr<I64Attr>:$offset, TypeAttrOf<Exec_Buffer>:$type,
                       OptionalAttr<AnyAttr>:$layout);
  let assemblyFormat = [{
    $sym_name $binding $space (`at` $offset^)? `:` $type attr-dict
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::MemRefType getBufferType() {
      return ::llvm::cast<::mlir::MemRefType>(getType());
    }
  }];
}

def Exec_EntryOp : Exec_Op<"entry", [
    Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "What a rank does in one step, evaluation or inference";
  let description = [{
    The body runs in its order. The name is that of the function it was made
    from: @step, @eval or @infer.

    ```mlir
    exec.resident @state.w #nn.arg<parameter "w"> arena : memref<4x3xf32>
    func.func private @kernel.0(%w: tensor<4x3xf32>) -> tensor<4x3xf32>
    exec.entry @step {
      %w = exec.get @state.w : memref<4x3xf32>
      exec.launch @kernel.0(%w) into (%w) : (memref<4x3xf32>), (memref<4x3xf32>)
    }
    ```
    Constraints: (C1) the name is step, eval or infer; (C2) every event is waited
    for once.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

def Exec_FunctionOp : Exec_Op<"function", [
    Symbol, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Consecutive launches that become one generated function";
  let description = [{
    Nothing in the body starts or ends communication: it is what the action
    table's COMPUTE calls.

    Made by `dpc-form-functions`; becomes `int32_t fn(dpc_call_t *)`.

    ```mlir
    exec.resident @state.w #nn.arg<parameter "w"> arena : memref<4x3xf32>
    func.func private @kernel.0(%w: tensor<4x3xf32>) -> tensor<4x3xf32>
    exec.function @step.0 {
      %w = exec.get @state.w : memref<4x3xf32>
      exec.launch @kernel.0(%w) into (%w) : (memref<4x3xf32>), (memref<4x3xf32>)
    }
    ```
    Constraints: (C1) only launches, copies, controls and the buffers they use.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

def Exec_GetOp : Exec_Op<"get", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A persistent buffer, by its name";
  let description = [{
    Constraints: (C1) the symbol is an exec.resident of the result's type.

    ```mlir
    exec.resident @state.w #nn.arg<parameter "w"> arena : memref<4x3xf32>
    exec.entry @step {
      %w = exec.get @state.w : memref<4x3xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$resident);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "$resident attr-dict `:` type($result)";
}

def Exec_BufferOp : Exec_Op<"buffer"> {
  let summary = "A buffer that lives while it is used";
  let description = [{
    Its content is undefined until something writes it. Memory planning sets
    `offset`, in bytes from the start of the space; buffers that are never live
    together may share bytes. `shared` is for what collectives touch.

    ```mlir
    %0 = exec.buffer arena at 128 : memref<8x3xf32>
    ```
    Constraints: (C1) `offset` is a multiple of 64 and not negative.
  }];
  let arguments = (ins Exec_Space:$space, OptionalAttr<I64Attr>:$offset);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "$space (`at` $offset^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Exec_ViewOp : Exec_Op<"view", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A part of a buffer, or the same bytes under another shape";
  let description = [{
    Starts `offset` bytes after the start of `source`, plus `stride` bytes for each
    microbatch before this one or, where `over` names mesh axes, for each member
    before this rank in its group along them. Reshapes, the members of a bucket,
    the slices of a stacked tensor and a rank's shard of a buffer are views.

    ```mlir
    func.func @example(%0: memref<100xf32>) {
      %1 = exec.view %0 at 64 : memref<100xf32> to memref<4x3xf32>
      return
    }
    ```
    Constraints: (C1) the result lies inside the source, in every iteration of
    the loop around it, on every rank.
  }];
  let arguments = (ins Exec_Buffer:$source, I64Attr:$offset,
                       DefaultValuedAttr<I64Attr, "0">:$stride,
                       OptionalAttr<StrArrayAttr>:$axes);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = [{
    $source `at` $offset (`stride` $stride^)? (`over` $axes^)? attr-dict
    `:` type($source) `to` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$source,
                   CArg<"int64_t", "0">:$offset, CArg<"int64_t", "0">:$stride), [{
      build($_builder, $_state, result, source, offset, stride, ::mlir::ArrayAttr());
    }]>,
  ];
}

//===----------------------------------------------------------------------===//
// Actions
//===----------------------------------------------------------------------===//

def Exec_LaunchOp : Exec_Op<"launch", [
    AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a kernel";
  let description = [{
    Reads `inputs`, writes all of `outputs`. An output may be an input where the
    kernel computes element i of it from element i of that input alone.

    ```mlir
    func.func private @kernel.0(%x: tensor<8x4xf32>, %w: tensor<4x3xf32>) -> tensor<8x3xf32>
        attributes {exec.scratch_bytes = 256 : i64}
    func.func @example(%x: memref<8x4xf32>, %w: memref<4x3xf32>, %y: memref<8x3xf32>, %s: memref<256xi8>) {
      exec.launch @kernel.0(%x, %w) into (%y) scratch (%s)
          : (memref<8x4xf32>, memref<4x3xf32>), (memref<8x3xf32>), (memref<256xi8>)
      return
    }
    ```
    Constraints: (C1) the kernel is a func.func of the tensors of the inputs to
    the tensors of the outputs; (C2) there is a scratch buffer if and only if the
    kernel asks for scratch bytes, and it is large enough.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$inputs,
                       Variadic<Exec_Buffer>:$outputs, Variadic<Exec_Buffer>:$scratch);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `into` `(` $outputs `)` (`scratch` `(` $scratch^ `)`)? attr-dict
    `:` `(` type($inputs) `)` `,` `(` type($outputs) `)` (`,` `(` type($scratch)^ `)`)?
  }];
}

def Exec_ControlOp : Exec_Op<"control"> {
  let summary = "Reads a host scalar into a buffer";
  let description = [{
    `name` is one of step, seed, learning_rate, loss_scale, valid_rows: a field of
    the runtime's control block, converted to the element type.

    ```mlir
    func.func @example(%0: memref<i64>) {
      exec.control "step" into %0 : memref<i64>
      return
    }
    ```
    Constraints: (C1) the name is known; (C2) the buffer has rank 0 and type
    i64, i32, f64 or f32.
  }];
  let arguments = (ins StrAttr:$name, Exec_Buffer:$output);
  let assemblyFormat = "$name `into` $output attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Exec_CoordinateOp : Exec_Op<"coordinate"> {
  let summary = "Reads the rank's coordinate on a mesh axis into a buffer";
  let description = [{
    On a sequential axis it is the number of the microbatch.

    ```mlir
    func.func @example(%0: memref<i64>) {
      exec.coordinate "data" into %0 : memref<i64>
      return
    }
    ```
    Constraints: (C1) the buffer is a memref<i64>.
  }];
  let arguments = (ins StrAttr:$axis, Exec_Buffer:$output);
  let assemblyFormat = "$axis `into` $output attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def Exec_CopyOp : Exec_Op<"copy", [SameTypeOperands]> {
  let summary = "Copies a buffer";
  let description = [{
    ```mlir
    func.func @example(%0: memref<4x3xf32>, %1: memref<4x3xf32>) {
      exec.copy %0 to %1 : memref<4x3xf32>
      return
    }
    ```
  }];
  let arguments = (ins Exec_Buffer:$input, Exec_Buffer:$output);
  let assemblyFormat = "$input `to` $output attr-dict `:` type($input)";
}

def Exec_ZeroOp : Exec_Op<"zero"> {
  let summary = "Sets a buffer to zero";
  let description = [{
    ```mlir
    func.func @example(%0: memref<4x3xf32>) {
      exec.zero %0 : memref<4x3xf32>
      return
    }
    ```
  }];
  let arguments = (ins Exec_Buffer:$output);
  let assemblyFormat = "$output attr-dict `:` type($output)";
}

def Exec_StartOp : Exec_Op<"start"> {
  let summary = "Starts a collective";
  let description = [{
    Among the ranks that agree on every mesh axis but `axes`. From here to the
    wait nothing writes `input` or touches `output`. `id` names the logical
    buffer, alike on all ranks. A gather or scatter in place has as input or
    output the rank's own shard of the other, a view over `axes`.

    ```mlir
    func.func @example(%0: memref<100xf32>) {
      %e = exec.start all_reduce sum over ["data"] %0 to %0 id 3 : memref<100xf32>, memref<100xf32>
      exec.wait %e
      return
    }
    ```
    Constraints: (C1) input and output have one element type; (C2) they lie in
    `shared` or `shared_slot` space; (C3) a view over mesh axes is one over
    `axes`.
  }];
  let arguments = (ins Exec_Collective:$kind, Exec_Reduction:$reduction, StrArrayAttr:$axes,
                       Exec_Buffer:$input, Exec_Buffer:$output, I64Attr:$id);
  let results = (outs Exec_Event:$event);
  let assemblyFormat = [{
    $kind $reduction `over` $axes $input `to` $output `id` $id attr-dict
    `:` type($input) `,` type($output)
  }];
  let hasVerifier = 1;
}

def Exec_WaitOp : Exec_Op<"wait"> {
  let summary = "Waits until a collective is complete on this rank";
  let description = "From here on its output may be read and its input written. See `exec.start`.";
  let arguments = (ins Exec_Event:$event);
  let assemblyFormat = "$event attr-dict";
}

def Exec_ComputeOp : Exec_Op<"compute", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a generated function";
  let description = [{
    Constraints: (C1) the symbol is an exec.function.

    ```mlir
    exec.function @step.0 {}
    exec.entry @step {
      exec.compute @step.0
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$callee);
  let assemblyFormat = "$callee attr-dict";
}

def Exec_LoopOp : Exec_Op<"loop", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Runs the body once a microbatch";
  let description = [{
    `count` iterations, one a microbatch, which `exec.view` and `exec.coordinate`
    inside may depend on. Buffers of the slot spaces are those of the microbatch
    at hand.

    ```mlir
    exec.resident @input.x #nn.arg<input "x", batch = 0> slot : memref<8x4xf32>
    exec.function @step.0 {}
    exec.entry @step {
      exec.loop 2 {
        exec.load_input @input.x
        exec.compute @step.0
      }
    }
    ```
    Constraints: (C1) `count` is at least 1.
  }];
  let arguments = (ins I64Attr:$count);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$count attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

def Exec_LoadInputOp : Exec_Op<"load_input", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Fills an input's buffer with the rows of this microbatch";
  let description = [{
    The runtime fills inputs that have none before the entry begins. See
    `exec.loop` for an example.

    Constraints: (C1) the symbol is an exec.resident bound to an input or label.
  }];
  let arguments = (ins FlatSymbolRefAttr:$resident);
  let assemblyFormat = "$resident attr-dict";
}

#endif // DPC_DIALECTS_EXEC_IR_EXECOPS_TD

#ifndef DPC_DIALECTS_EXEC_IR_EXECOPS_TD
#define DPC_DIALECTS_EXEC_IR_EXECOPS_TD

include "dialects/Dist/IR/DistAttrs.td"
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

def Exec_PersistentOp : Exec_Op<"persistent", [Symbol]> {
  let summary = "A buffer that lives as long as the program";
  let description = [{
    A persistent buffer. It holds a piece of state, an input, a control, a metric or
    an output, as `binding` says, and the host finds it by the name in the binding.
    The host fills inputs, controls and coordinates before an entry begins. `layout`
    is the layout of the function argument or result that the buffer holds; `offset`
    is in bytes from the start of the space.

    Made by `dpc-lower-to-exec`; placed by `dpc-assign-offsets`; becomes a tensor or
    a control of the program record.

    ```mlir
    exec.persistent @state.w #nn.arg<parameter "w"> arena at 0 : memref<4x3xf32>
    exec.persistent @control.step #nn.arg<control "step"> arena : memref<i64>
    ```

    With a `#dist.storage` the buffer holds several pieces of state, end to end, and
    `layout` is the layout of the entire storage.

    Constraints: (C1) `binding` is a #nn.arg, a #nn.result that is a metric or an
    output, a #dist.storage or a #exec.coordinate; (C2) a control is one of step,
    seed, learning_rate, valid_rows; (C3) a control has rank 0 and element type
    i64, i32, f64 or f32, and a coordinate has type memref<i64>.
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
    The body runs in order. The entry has the name of the function that it was made
    from: @step, @eval or @infer.

    ```mlir
    exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<4x3xf32>
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
    Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>, IsolatedFromAbove, SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Consecutive launches that become one generated function";
  let description = [{
    The body has no start and no wait of a collective. The function is the callee of
    COMPUTE in the action table.

    `entry` is the entry that calls the function. `piece` is its number among the
    functions of that entry, from 0.

    Made by `dpc-form-functions`; becomes host code `int32_t fn(dpc_call_t *)`, or a
    list of launches for a device.

    ```mlir
    exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<4x3xf32>
    func.func private @kernel.0(%w: tensor<4x3xf32>) -> tensor<4x3xf32>
    exec.entry @step {
      exec.compute @step.0
    }
    exec.function @step.0 piece 0 of @step {
      %w = exec.get @state.w : memref<4x3xf32>
      exec.launch @kernel.0(%w) into (%w) : (memref<4x3xf32>), (memref<4x3xf32>)
    }
    ```
    Constraints: (C1) the body has only the ops exec.launch, exec.copy and
    exec.microbatch, and the ops exec.get, exec.buffer and exec.view, which give
    their operands; (C2) `entry` is an exec.entry.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$piece, FlatSymbolRefAttr:$entry);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `piece` $piece `of` $entry attr-dict-with-keyword $body";
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
    Constraints: (C1) the symbol is an exec.persistent of the result's type.

    ```mlir
    exec.persistent @state.w #nn.arg<parameter "w"> arena : memref<4x3xf32>
    exec.entry @step {
      %w = exec.get @state.w : memref<4x3xf32>
    }
    ```
  }];
  let arguments = (ins FlatSymbolRefAttr:$persistent);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "$persistent attr-dict `:` type($result)";
}

def Exec_BufferOp : Exec_Op<"buffer"> {
  let summary = "A buffer that lives while it is used";
  let description = [{
    The contents are undefined until an op writes them. Memory planning sets
    `offset`, in bytes from the start of the space. Buffers that are never live at
    the same time may share bytes. Space `shared` is for buffers that collectives
    access.

    `dpc-form-functions` sets `number`. Each function or entry that uses a buffer has
    its own `exec.buffer` op for this buffer; ops with the same number are the same
    buffer. The program record uses numbers to say which buffers an action accesses.

    ```mlir
    %0 = exec.buffer arena at 128 : memref<8x3xf32>
    %1 = exec.buffer arena at 256 number 7 : memref<8x3xf32>
    ```
    Constraints: (C1) `offset` is a multiple of 64 and not negative; (C2) `number`
    is not negative.
  }];
  let arguments = (ins Exec_Space:$space, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$number);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "$space (`at` $offset^)? (`number` $number^)? attr-dict `:` type($result)";
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::dpc::exec::Space":$space,
                   CArg<"::mlir::IntegerAttr", "{}">:$offset), [{
      build($_builder, $_state, result, space, offset, /*number=*/::mlir::IntegerAttr());
    }]>,
  ];
  let hasVerifier = 1;
}

def Exec_ViewOp : Exec_Op<"view", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A part of a buffer, or the same bytes under another shape";
  let description = [{
    The view starts `offset` + i * `stride` bytes after the start of `source`. If
    `over` names mesh axes, i is the index of this rank in its group along these
    axes. Otherwise i is the number of the current microbatch, from 0. Reshapes,
    members of a bucket, slices of a stacked tensor and a rank's shard of a buffer
    are views.

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
    Reads `inputs` and writes all of `outputs`. An output may be the same buffer as
    an input if `exec.may_alias` of the kernel allows it: no element of that input
    is read after the same element of the output is written.

    ```mlir
    func.func private @kernel.0(%x: tensor<8x4xf32>, %w: tensor<4x3xf32>) -> tensor<8x3xf32>
        attributes {exec.scratch_bytes = 256 : i64}
    func.func @example(%x: memref<8x4xf32>, %w: memref<4x3xf32>, %y: memref<8x3xf32>, %s: memref<256xi8>) {
      exec.launch @kernel.0(%x, %w) into (%y) scratch (%s)
          : (memref<8x4xf32>, memref<4x3xf32>), (memref<8x3xf32>), (memref<256xi8>)
      return
    }
    ```
    Constraints: (C1) the kernel is a func.func whose arguments have the shapes and
    element types of the inputs, and whose results have those of the outputs; (C2)
    there is a scratch buffer if and only if the kernel asks for scratch bytes, and
    the buffer is large enough.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Exec_Buffer>:$inputs,
                       Variadic<Exec_Buffer>:$outputs, Variadic<Exec_Buffer>:$scratch);
  let assemblyFormat = [{
    $kernel `(` $inputs `)` `into` `(` $outputs `)` (`scratch` `(` $scratch^ `)`)? attr-dict
    `:` `(` type($inputs) `)` `,` `(` type($outputs) `)` (`,` `(` type($scratch)^ `)`)?
  }];
}

def Exec_MicrobatchOp : Exec_Op<"microbatch"> {
  let summary = "Writes the number of the microbatch at hand into a buffer";
  let description = [{
    Writes the coordinate (from 0) on the sequential axis of the enclosing loop. An
    op writes this coordinate, because it changes while an entry runs. Coordinates
    that do not change are persistent buffers that the host fills.

    ```mlir
    func.func @example(%0: memref<i64>) {
      exec.microbatch into %0 : memref<i64>
      return
    }
    ```
    Constraints: (C1) the buffer is a memref<i64>.
  }];
  let arguments = (ins Exec_Buffer:$output);
  let assemblyFormat = "`into` $output attr-dict `:` type($output)";
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

def Exec_StartOp : Exec_Op<"start", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Starts a collective";
  let description = [{
    Starts a collective in this rank's group along `axes`: the ranks whose
    coordinates on all other mesh axes are the same. From the start to the wait, no
    op writes `input` or accesses `output`. `id` is the number of the logical
    buffer, and is the same on all ranks. If an all-gather is in place, its input is
    this rank's shard of the output. If a reduce-scatter is in place, its output is
    this rank's shard of the input. Such a shard is a view over `axes`. An all-to-all
    is never in place.

    ```mlir
    func.func @example(%0: memref<100xf32>) {
      %e = exec.start all_reduce sum over ["data"] %0 to %0 id 3 : memref<100xf32>, memref<100xf32>
      exec.wait %e
      return
    }
    ```
    Constraints: (C1) input and output have one element type; (C2) they lie in
    space `shared`; (C3) if the input or output is a view over mesh axes, these
    axes are `axes`.
  }];
  let arguments = (ins Dist_Collective:$kind, Dist_Reduction:$reduction, StrArrayAttr:$axes,
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
    exec.function @step.0 piece 0 of @step {}
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
    Runs `count` iterations, one per microbatch. `exec.view` and `exec.microbatch`
    in the body may depend on the number of the microbatch.

    ```mlir
    exec.function @step.0 piece 0 of @step {}
    exec.entry @step {
      exec.loop 2 {
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

#endif // DPC_DIALECTS_EXEC_IR_EXECOPS_TD

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
    The attribute `binding` says which value the buffer holds: a state, an input, a
    control, a coordinate, a metric or an output. The host finds the buffer by the
    name in the binding. The host writes inputs, controls and coordinates before an
    entry begins. `layout` is the layout of the function argument or result whose
    value the buffer holds. `offset` counts bytes from the start of the space.

    `dpc-lower-to-exec` creates the op: one for each input, control, coordinate,
    metric and output of the program, and one for each state or flat storage of
    states. All entries share these ops. `dpc-assign-offsets` sets `offset`. The
    folder `record` turns the op into a tensor or a control of the program record
    (`Tensors.cpp`), and into a logical buffer (`BufferTable.cpp`).

    ```mlir
    exec.persistent @state.w #nn.arg<parameter "w"> arena at 0 : memref<4x3xf32>
    exec.persistent @control.step #nn.arg<control "step"> arena : memref<i64>
    ```

    If the binding is a `#dist.storage`, the buffer holds several states one after
    the other, and `layout` is the layout of the entire storage.

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
  let summary = "The actions of a rank in one step, evaluation or inference";
  let description = [{
    A rank runs the ops of the body in their order. The entry has the name of the
    function that it was lowered from: @step, @eval or @infer.

    `dpc-lower-to-exec` creates the op from a `func.func`. `dpc-delay-waits` moves
    waits in it, `dpc-assign-offsets` assigns offsets to its buffers, and
    `dpc-form-functions` moves its launches into functions. `record/Actions.cpp` turns
    the body into the action table that the runtime executes.

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
    The body has no start and no wait of a collective, so it runs without
    interruption. In the action table the function is called by an action of the kind
    `DPC_ACTION_COMPUTE`.

    `entry` names the entry that calls the function. `piece` is the number of the
    function among the functions of this entry, from 0.

    `dpc-form-functions` creates the op. `record/Functions.cpp` turns it into host
    code, a function `int32_t fn(dpc_call_t *)`. For a device,
    `record/LaunchTable.cpp` turns it into a list of launches.

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
    exec.microbatch, and the ops that define their operands: exec.get, exec.buffer,
    exec.frame and exec.view; (C2) `entry` is an exec.entry.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, I64Attr:$piece, FlatSymbolRefAttr:$entry);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `piece` $piece `of` $entry attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::Block &getBodyBlock() { return getBody().front(); }
  }];
}

def Exec_RoutineOp : Exec_Op<"routine", [
    Symbol, DeclareOpInterfaceMethods<SymbolUserOpInterface>, IsolatedFromAbove, SingleBlock,
    NoTerminator, NoRegionArguments]> {
  let summary = "The actions of a piece of a pipelined loop, for any microbatch";
  let description = [{
    `entry` runs the routine once for each of `count` microbatches (`exec.run`), between
    pieces of other microbatches. The body has the actions of one run. Buffers that differ
    between runs, or that belong to the entry, are `exec.frame`s. The run says which
    buffers they are. There are `frames` of them.

    `dpc-lower-to-exec` creates the op from a `dist.piece`. `dpc-form-functions` moves its
    launches into functions. `record/Actions.cpp` repeats its actions in the action table
    for each run.

    ```mlir
    func.func private @kernel.0(%w: tensor<4x3xf32>) -> tensor<4x3xf32>
    exec.entry @step {
      %0 = exec.buffer arena : memref<4x3xf32>
      exec.run @step.F0 micro 0 (%0 : memref<4x3xf32>)
    }
    exec.routine @step.F0 of @step count 1 frames 1 {
      %x = exec.frame 0 arena : memref<4x3xf32>
      exec.launch @kernel.0(%x) into (%x) : (memref<4x3xf32>), (memref<4x3xf32>)
    }
    ```
    Constraints: (C1) `entry` is an exec.entry; (C2) the body has no `exec.loop` and no
    `exec.run`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$entry, I64Attr:$count,
                       I64Attr:$frames);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name `of` $entry `count` $count `frames` $frames attr-dict-with-keyword $body
  }];
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
    The op gives ops of an entry or function access to an `exec.persistent`. It does
    not read or write the buffer.

    `dpc-lower-to-exec` creates the op for each argument, result and coordinate that
    an entry uses. `dpc-form-functions` copies it into each function that uses the
    buffer. The op emits no code: the files of `record` follow it to the offset of
    its `exec.persistent` (`exec::placeOf`).

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
  let summary = "A buffer that is live from its first use to its last";
  let description = [{
    The contents are undefined until an op writes them. `offset` counts bytes from
    the start of the space. Buffers that are never live at the same time may share
    bytes. Buffers that collectives access lie in space `shared`.

    `dpc-lower-to-exec` creates the op for each value that is neither in a persistent
    buffer nor a view, and for the scratch memory of each launch. `dpc-assign-offsets` sets
    `offset`. `dpc-form-functions` sets `number`, and copies the op into each
    function that uses the buffer; ops with the same number are the same buffer.
    `record/BufferTable.cpp` turns each number into one logical buffer of the program
    record.

    A pipelined loop has a buffer per microbatch for each value that one piece leaves for
    another one. The buffers of one value have the same `value`, and their `micro` is the
    microbatch. The runtime's proof of the plan checks that a run of a routine gets the
    buffers of its microbatch, and those of the values that it reads.

    ```mlir
    %0 = exec.buffer arena at 128 : memref<8x3xf32>
    %1 = exec.buffer arena at 256 number 7 : memref<8x3xf32>
    %2 = exec.buffer arena at 384 number 8 value 1 micro 0 : memref<8x3xf32>
    ```
    Constraints: (C1) `offset` is a multiple of 64 and not negative; (C2) `number`
    is not negative.
  }];
  let arguments = (ins Exec_Space:$space, OptionalAttr<I64Attr>:$offset,
                       OptionalAttr<I64Attr>:$number, OptionalAttr<I64Attr>:$value,
                       OptionalAttr<I64Attr>:$micro);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = [{
    $space (`at` $offset^)? (`number` $number^)? (`value` $value^ `micro` $micro)? attr-dict
    `:` type($result)
  }];
  let builders = [
    OpBuilder<(ins "::mlir::Type":$result, "::dpc::exec::Space":$space,
                   CArg<"::mlir::IntegerAttr", "{}">:$offset), [{
      build($_builder, $_state, result, space, offset, /*number=*/{}, /*value=*/{},
            /*micro=*/::mlir::IntegerAttr());
    }]>,
  ];
  let hasVerifier = 1;
}

def Exec_FrameOp : Exec_Op<"frame", [Pure]> {
  let summary = "A buffer that a run of a routine provides";
  let description = [{
    The buffer is operand `number` of the `exec.run`. It lies in `space` in every run. The
    address of the buffer is part of the action that calls a function (`dpc_frame_t`), so
    that one function serves all runs.

    `dpc-lower-to-exec` creates the op in an `exec.routine`. `dpc-form-functions` copies it
    into each function that uses the buffer.

    ```mlir
    func.func @example() {
      %0 = exec.frame 2 arena : memref<8x3xf32>
      return
    }
    ```
    Constraints: (C1) `number` is not negative.
  }];
  let arguments = (ins I64Attr:$number, Exec_Space:$space);
  let results = (outs Exec_Buffer:$result);
  let assemblyFormat = "$number $space attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def Exec_ViewOp : Exec_Op<"view", [
    Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "A part of a buffer, or the same bytes under another shape";
  let description = [{
    The view starts `offset` + i * `stride` bytes after the start of `source`. If
    `over` names mesh axes, i is the index of this rank in its group along these
    axes. Otherwise i is the number of the current microbatch, from 0. The view
    accesses no memory.

    `dpc-lower-to-exec` creates the op for a reshape, for a member of a bucket and for
    a rank's shard of flat storage. It also creates it for the slice of a tensor that
    one microbatch reads or writes. `dpc-compute-in-place` creates it for a buffer
    that becomes a part of another buffer. `dpc-form-functions` copies it into each
    function that uses the view. The op emits no code: the files of `record` add its
    offset to the address of its source (`exec::placeOf`).

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
    Reads `inputs` and writes all elements of `outputs`. An output may be the same
    buffer as an input if `exec.may_alias` of the kernel allows it. The attribute
    allows it if the kernel reads no element of the input after it has written the
    same element of the output.

    `dpc-lower-to-exec` creates the op from a call of a kernel, and in a loop for the
    sum of a value over microbatches. `dpc-form-functions` moves it into an
    `exec.function`. `record/Functions.cpp` turns it into a call of the kernel's
    code. For a device, `record/LaunchTable.cpp` turns it into launches.

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
    `:` custom<Types>(type($inputs)) `,` `(` type($outputs) `)` (`,` `(` type($scratch)^ `)`)?
  }];
}

def Exec_MicrobatchOp : Exec_Op<"microbatch"> {
  let summary = "Writes the number of the current microbatch into a buffer";
  let description = [{
    Writes the coordinate (from 0) on the sequential axis of the enclosing loop. This
    coordinate needs an op because it changes while an entry runs. Coordinates on
    other axes never change, so the host writes them into persistent buffers.

    `dpc-lower-to-exec` creates the op from a `dist.axis_index` of the loop's axis.
    `dpc-form-functions` moves it into an `exec.function`. `record/Functions.cpp`
    turns it into a store of the microbatch's number, and `record/LaunchTable.cpp`
    turns it into a launch that writes this number.

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
    Copies all bytes of `input` to `output`.

    `dpc-lower-to-exec` creates the op for each member of a bucket and for each result
    of an entry. In a loop, it creates the op for a value that becomes a slice of a
    stacked result. It also creates the op for the operand of a collective if this
    operand lies outside of space `shared` or is the slice of a microbatch.
    `dpc-compute-in-place` removes the op if the value can be computed in `output`
    directly. `dpc-form-functions` moves the remaining copies into
    functions. `record/Functions.cpp` turns a copy into a `memcpy`, and
    `record/LaunchTable.cpp` turns it into a launch of the kind `DPC_LAUNCH_COPY`.

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
    Sets all bytes of `output` to zero.

    `dpc-lower-to-exec` creates the op before a loop that adds to a sum, and for the
    bytes between the members of a bucket if an op reads them. `dpc-form-functions`
    leaves it in the entry. `record/Actions.cpp` turns it into an action of the kind
    `DPC_ACTION_ZERO`.

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
    Starts a collective in this rank's group along `axes`. The group consists of the
    ranks that have the same coordinates as this rank on all other mesh axes. Until
    the wait, no op may write `input` or access `output`. `id` is a number of the
    collective that is the same on all ranks of a group; the ranks announce it to
    each other. If there are `members`, `axes` is one axis, and only the ranks with
    these coordinates on it form groups.

    A collective can be in place. For an all-reduce, input and output are then the
    same buffer. For an all-gather, the input is then this rank's shard of the
    output. For a reduce-scatter, the output is then this rank's shard of the input.
    The shard is an `exec.view` over `axes`. An all-to-all is never in place.

    `dpc-lower-to-exec` creates the op from a `dist.all_reduce`, `dist.all_gather`,
    `dist.reduce_scatter`, `dist.all_to_all` or `dist.stage_reduce`, directly followed
    by its wait.
    `dpc-compute-in-place` makes it work in place. `record/Actions.cpp` turns it into
    an action of the kind `DPC_ACTION_START`.

    ```mlir
    func.func @example(%0: memref<100xf32>) {
      %e = exec.start all_reduce sum over ["data"] %0 to %0 id 3 : memref<100xf32>, memref<100xf32>
      exec.wait %e
      return
    }
    ```
    Constraints: (C1) input and output have one element type; (C2) they lie in
    space `shared`; (C3) if the input or output is a view over mesh axes, these
    axes are `axes`; (C4) `members` are at least two coordinates on one axis, in
    increasing order.
  }];
  let arguments = (ins Dist_Collective:$kind, Dist_Reduction:$reduction, StrArrayAttr:$axes,
                       OptionalAttr<DenseI64ArrayAttr>:$members, Exec_Buffer:$input,
                       Exec_Buffer:$output, I64Attr:$id);
  let results = (outs Exec_Event:$event);
  let assemblyFormat = [{
    $kind $reduction `over` $axes (`of` $members^)? $input `to` $output `id` $id attr-dict
    `:` type($input) `,` type($output)
  }];
  let hasVerifier = 1;
}

class Exec_MessageOp<string mnemonic> : Exec_Op<mnemonic, [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins Exec_Buffer:$buffer, I64Attr:$peer, StrAttr:$axis, I64Attr:$id);
  let results = (outs Exec_Event:$event);
}

def Exec_StartSendOp : Exec_MessageOp<"start_send"> {
  let summary = "Starts to send a buffer to another rank";
  let description = [{
    The receiver is the rank with the coordinate `peer` on the mesh axis `axis`, and
    with the coordinates of this rank on all other axes. An `exec.start_recv` with the same
    `id` receives the message there. Until the wait, no op may write the buffer.

    `dpc-lower-to-exec` creates the op from a `dist.send`, directly followed by its
    wait. `record/Actions.cpp` turns it into an action of the kind `DPC_ACTION_START`.

    ```mlir
    func.func @example(%0: memref<100xf32>) {
      %e = exec.start_send %0 to 1 over "pipe" id 3 : memref<100xf32>
      exec.wait %e
      return
    }
    ```
    Constraints: (C1) the buffer lies in space `shared`; (C2) it is no view over mesh
    axes.
  }];
  let assemblyFormat = "$buffer `to` $peer `over` $axis `id` $id attr-dict `:` type($buffer)";
}

def Exec_StartRecvOp : Exec_MessageOp<"start_recv"> {
  let summary = "Starts to receive a buffer from another rank";
  let description = [{
    The sender is the rank with the coordinate `peer` on the mesh axis `axis`, and with
    the coordinates of this rank on all other axes. An `exec.start_send` with the same `id`
    sends the message there. Until the wait, no op may access the buffer.

    `dpc-lower-to-exec` creates the op from a `dist.recv`, directly followed by its
    wait. `record/Actions.cpp` turns it into an action of the kind `DPC_ACTION_START`.

    ```mlir
    func.func @example(%0: memref<100xf32>) {
      %e = exec.start_recv %0 from 0 over "pipe" id 3 : memref<100xf32>
      exec.wait %e
      return
    }
    ```
    Constraints: (C1), (C2) as for `exec.start_send`.
  }];
  let assemblyFormat = "$buffer `from` $peer `over` $axis `id` $id attr-dict `:` type($buffer)";
}

def Exec_WaitOp : Exec_Op<"wait"> {
  let summary = "Waits until a collective or message is complete on this rank";
  let description = [{
    After the wait, ops may read the output of the collective and write its input. The
    buffer of a message counts as an input of `exec.start_send`, and as an output of
    `exec.start_recv`.

    `dpc-lower-to-exec` creates the op directly after the `exec.start`, `exec.start_send` or
    `exec.start_recv` that makes its event. `dpc-delay-waits` moves it down to the first op
    that needs the buffers. `record/Actions.cpp` turns it into an action of the kind
    `DPC_ACTION_WAIT`.

    ```mlir
    func.func @example(%0: memref<100xf32>, %1: memref<4xf32>) {
      %e = exec.start all_reduce sum over ["data"] %0 to %0 id 3 : memref<100xf32>, memref<100xf32>
      exec.zero %1 : memref<4xf32>
      exec.wait %e
      return
    }
    ```
  }];
  let arguments = (ins Exec_Event:$event);
  let assemblyFormat = "$event attr-dict";
}

def Exec_ComputeOp : Exec_Op<"compute", [
    DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Calls a generated function";
  let description = [{
    Runs the launches, copies and `exec.microbatch` ops of an `exec.function` in their
    order.

    `dpc-form-functions` creates the op in place of the ops that it moves into a
    function. `record/Actions.cpp` turns it into an action of the kind
    `DPC_ACTION_COMPUTE`.

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

def Exec_RunOp : Exec_Op<"run", [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Runs a routine for one microbatch";
  let description = [{
    Performs the actions of the routine for microbatch `micro`. Frame k of the routine is
    the buffer `frames`[k].

    `dpc-lower-to-exec` creates the op for each piece and microbatch of a pipelined loop.

    ```mlir
    exec.routine @step.F0 of @step count 2 frames 1 {
      %x = exec.frame 0 arena : memref<4x3xf32>
      exec.zero %x : memref<4x3xf32>
    }
    exec.entry @step {
      %0 = exec.buffer arena : memref<4x3xf32>
      exec.run @step.F0 micro 1 (%0 : memref<4x3xf32>)
    }
    ```
    Constraints: (C1) the symbol is an exec.routine with as many frames; (C2) `micro` is
    less than the routine's count; (C3) each frame lies in the space of its operand, and is
    no larger; (C4) no operand is a slice of a microbatch or of a rank.
  }];
  let arguments = (ins FlatSymbolRefAttr:$routine, I64Attr:$micro,
                       Variadic<Exec_Buffer>:$frames);
  let assemblyFormat = [{
    $routine `micro` $micro `(` ($frames^ `:` type($frames))? `)` attr-dict
  }];
}

def Exec_LoopOp : Exec_Op<"loop", [SingleBlock, NoTerminator, NoRegionArguments]> {
  let summary = "Runs the body once for each microbatch";
  let description = [{
    Runs `count` iterations, one per microbatch. `exec.view` and `exec.microbatch`
    in the body may depend on the number of the microbatch.

    `dpc-lower-to-exec` creates the op from a `dist.micro`. `record/Actions.cpp` turns
    it into a pair of actions of the kinds `DPC_ACTION_LOOP_BEGIN` and
    `DPC_ACTION_LOOP_END`.

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

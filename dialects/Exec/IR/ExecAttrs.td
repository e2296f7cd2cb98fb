#ifndef DPC_DIALECTS_EXEC_IR_EXECATTRS_TD
#define DPC_DIALECTS_EXEC_IR_EXECATTRS_TD

include "dialects/Exec/IR/ExecDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Exec_Space : I32EnumAttr<"Space", "Address space of a rank, numbered as DPC_SPACE_*", [
  I32EnumAttrCase<"arena", 0>, I32EnumAttrCase<"shared", 1>,
]> { let cppNamespace = "::dpc::exec"; }

class Exec_Attr<string name, string mnemonicName> : AttrDef<Exec_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Exec_MemoryAttr : Exec_Attr<"Memory", "memory"> {
  let summary = "Bytes of each space of a rank";
  let description = [{
    The attribute `exec.memory` of the module; `dpc-assign-offsets` sets it. `arena` and `shared`
    are the sizes of the two spaces. `peak` is the number of bytes that the memory plan needs in
    both spaces together. No memory plan can need fewer than `lowerBound` bytes.

    ```mlir
    module attributes {exec.memory = #exec.memory<arena = 320, shared = 64, peak = 384, lowerBound = 384>} {}
    ```
  }];
  let parameters = (ins "int64_t":$arena, "int64_t":$shared, "int64_t":$peak,
                        "int64_t":$lowerBound);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_MemoryUseAttr : Exec_Attr<"MemoryUse", "memory_use"> {
  let summary = "How many bytes of a rank's memory serve each purpose";
  let description = [{
    The attribute `exec.memory_use` of the module; `dpc-assign-offsets` sets it for reports. Four
    fields count the bytes of persistent buffers: `parameters`, `optimizer` (optimizer state),
    `buffers` (running statistics, frozen parameters and constants) and `data` (inputs, labels,
    controls, outputs and metrics). Three fields count the bytes of temporaries at the moment when
    the temporaries together need most memory: `gradients`, `gathered` (gathered copies of sharded
    parameters) and `activations` (all other temporaries). `gaps` counts the bytes that are lost to
    alignment and between buffers. The sum of all fields is the peak.
  }];
  let parameters = (ins "int64_t":$parameters, "int64_t":$optimizer, "int64_t":$buffers,
                        "int64_t":$data, "int64_t":$gradients, "int64_t":$gathered,
                        "int64_t":$activations, "int64_t":$gaps);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveTensorAttr : Exec_Attr<"LiveTensor", "live_tensor"> {
  let summary = "A buffer, for messages about memory";
  let description = [{
    `name` is the name of the state that the buffer holds, or of the ONNX node whose value it
    holds. It is empty if there is neither. `type` is the type of the buffer.
  }];
  let parameters = (ins StringRefParameter<"">:$name, "::mlir::Type":$type, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveBytesAttr : Exec_Attr<"LiveBytes", "live_bytes"> {
  let summary = "The bytes and tensors that are live at certain moments of a step";
  let description = [{
    The attribute `exec.live_bytes` of the module; `dpc-assign-offsets` sets it for reports.
    `afterForward` is the number of bytes of values that the forward pass of `step` computes and
    that ops after the forward pass read. `largest` lists the largest tensors (#exec.live_tensor)
    that are live at the moment when a rank needs most memory.
  }];
  let parameters = (ins "int64_t":$afterForward, "::mlir::ArrayAttr":$largest);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_CallAttr : Exec_Attr<"Call", "call"> {
  let summary = "A library call that may compute the results of a launch";
  let description = [{
    The first word, e.g. `product`, is the kind of the call. A header in
    `runtime/include/dpc` defines one C struct for each kind. The fields in braces are
    the fields of this struct, and the attribute holds the bytes of the struct.
    `buffers` lists the buffers of the call in the order that the kind defines. Each
    buffer is a part of one of the kernel's buffers. For example, `3 at 6400 for 4096`
    is the part of buffer 3 that begins at byte 6400 and has 4096 bytes. Without `at`,
    the part begins at byte 0. Without `for`, the part ends where the kernel's buffer
    ends.

    A `product` (`dpc_product_t`) computes `d = a b` for each of `batches` batch
    elements. `d` has `rows` rows and `columns` columns, and `a` has `depth` columns.
    The elements of each row are contiguous, and neighbouring rows are `stride` elements
    apart. If a matrix is `transposed`, the same holds for its columns. The matrices of
    neighbouring batch elements are `batchStride` elements apart. The `epilogue` changes
    each element before it is stored: `add` adds the element of a matrix at the same
    position, and `bias` adds the element of a vector that belongs to the same column.
    `type` is the element type of `a` and `b`, and `result` that of `d` and of the matrix or
    vector of the epilogue. It is `type`, or f32 if `type` has 16 bits.
    The buffers are `a`, `b`, `d` and scratch memory of the library, in this order. With
    an epilogue, the matrix or vector that it adds is the fifth buffer.

    ```mlir
    #sums = #exec.call<product {type = f32, result = f32, tf32 = false, epilogue = none,
      batches = 1, rows = 96, columns = 32, depth = 64,
      a = {stride = 64, batchStride = 0, transposed = false},
      b = {stride = 32, batchStride = 0, transposed = false},
      d = {stride = 32, batchStride = 0, transposed = false}},
      buffers = [0, 1, 2, 3 at 6400 for 4096]>
    ```

    A `convolution` (`dpc_convolution_t`) computes the tensor `result` of `y = conv(x, w)`:
    `y` itself, or the gradient of `x` or of `w`. In a gradient, `y` is the gradient of the
    output. The tensors have the dimensions of `nn.conv`, two or three of them `spatial`, and
    `strides` in memory, in elements. All elements have the type `type`. With `tf32`, factors of
    f32 may be rounded. The buffers are `x`, `w`, `y` and scratch memory of the library.

    ```mlir
    #convolution = #exec.call<convolution {result = y, type = bf16, tf32 = false, spatial = 2, groups = 1,
      strides = [1, 1], dilations = [1, 1], padLow = [1, 1], padHigh = [1, 1],
      x = {extents = [8, 16, 14, 14], strides = [3136, 196, 14, 1]},
      w = {extents = [32, 16, 3, 3], strides = [144, 9, 3, 1]},
      y = {extents = [8, 32, 14, 14], strides = [6272, 196, 14, 1]}},
      buffers = [0, 1, 2, 3]>
    ```
  }];
  let parameters = (ins "uint32_t":$kind, StringRefParameter<>:$description,
                        ArrayRefParameter<"::dpc::exec::CallBuffer">:$buffers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Exec_GridAttr : Exec_Attr<"Grid", "grid"> {
  let summary = "A launch of a grid of threads, one of the launches that compute a kernel";
  let description = [{
    A kernel whose target is `cuda` is computed by one or more launches; `exec.launches` of the
    kernel's function lists them in order. This launch runs a function in `blocks` blocks of
    `threads` threads. The name of the function is the kernel's name followed by `entry`, e.g.
    `kernel.0_0`. The arguments of the function are the kernel's buffers with the numbers in
    `buffers`. The numbers count the operands of the kernel first, then its results, then its
    scratch memory. If there is a `call`, a library may compute the results of the launch in place
    of the function. `lone` marks a launch in which one thread does all the work; only reports use
    it. `shared` is the number of bytes of shared memory that each block asks for at the launch,
    besides the shared memory that the function declares.

    ```mlir
    func.func private @kernel.0(%a: tensor<1000xf32>) -> tensor<1000xf32>
        attributes {exec.launches = [#exec.grid<entry = "_0", blocks = 4, threads = 256, buffers = [0, 1]>]} {
      %0 = nn.kernel (%a : tensor<1000xf32>) {
      ^bb0(%x: tensor<1000xf32>):
        %y = nn.exp %x : tensor<1000xf32>
        nn.yield %y : tensor<1000xf32>
      } -> tensor<1000xf32>
      return %0 : tensor<1000xf32>
    }
    ```
  }];
  let parameters = (ins StringRefParameter<>:$entry, "int64_t":$blocks, "int64_t":$threads,
                        "::mlir::DenseI64ArrayAttr":$buffers,
                        OptionalParameter<"::dpc::exec::CallAttr">:$call,
                        DefaultValuedParameter<"bool", "false">:$lone,
                        DefaultValuedParameter<"int64_t", "0">:$shared);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Exec_Purpose : I32EnumAttr<"Purpose", "What a buffer or a collective is for", [
  I32EnumAttrCase<"activations", 0>, // values of the model and their gradients
  I32EnumAttrCase<"gradients", 1>,   // gradients that updates read
  I32EnumAttrCase<"parameters", 2>,  // state that updates write
  I32EnumAttrCase<"metrics", 3>,     // single numbers: losses, counts, norms
  I32EnumAttrCase<"gathered", 4>,    // gathered copies of sharded state
]> {
  let cppNamespace = "::dpc::exec";
  let genSpecializedAttr = 0;
}

def Exec_PurposeAttr : Exec_Attr<"Purpose", "purpose"> {
  let summary = "The purpose of a buffer or a collective";
  let description = [{
    The attribute `exec.purpose` of an exec.buffer or exec.start; `dpc-mark-purposes` sets it.
    Only reports and traces use it: no decision of the compiler depends on it. If it is absent,
    the purpose is `activations`.

    ```mlir
    %0 = exec.buffer shared {exec.purpose = #exec.purpose<gradients>} : memref<64xf32>
    ```
  }];
  let parameters = (ins EnumParameter<Exec_Purpose>:$value);
  let assemblyFormat = "`<` $value `>`";
}

def Exec_CoordinateAttr : Exec_Attr<"Coordinate", "coordinate"> {
  let summary = "The rank's coordinate on an axis of the mesh";
  let description = [{
    The binding of a persistent buffer that holds this rank's coordinate on a mesh axis. The host
    writes the coordinate before an entry begins, as it writes controls. The axis is never
    sequential: a coordinate on a sequential axis is the number of the microbatch, which changes
    while an entry runs, and `exec.microbatch` writes it.

    ```mlir
    exec.persistent @coordinate.data #exec.coordinate<"data"> arena : memref<i64>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$axis);
  let assemblyFormat = "`<` $axis `>`";
}

class Exec_Type<string name, string mnemonicName> : TypeDef<Exec_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Exec_Event : Exec_Type<"Event", "event"> {
  let summary = "A collective or message that has started";
  let description = [{
    The result of `exec.start`, `exec.start_send` and `exec.start_recv`, and the operand of `exec.wait`.
    Exactly one wait uses each event.
  }];
}

#endif // DPC_DIALECTS_EXEC_IR_EXECATTRS_TD

#ifndef DPC_DIALECTS_EXEC_IR_EXECATTRS_TD
#define DPC_DIALECTS_EXEC_IR_EXECATTRS_TD

include "dialects/Exec/IR/ExecDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Exec_Space : I32EnumAttr<"Space", "Address space of a rank, numbered as DPC_SPACE_*", [
  I32EnumAttrCase<"arena", 0>, I32EnumAttrCase<"shared", 1>,
]> { let cppNamespace = "::dpc::exec"; }

def Exec_Collective : I32EnumAttr<"Collective", "A collective, numbered as DPC_OP_*", [
  I32EnumAttrCase<"all_reduce", 1>, I32EnumAttrCase<"reduce_scatter", 2>,
  I32EnumAttrCase<"all_gather", 3>, I32EnumAttrCase<"broadcast", 4>,
  I32EnumAttrCase<"all_to_all", 8>,
]> { let cppNamespace = "::dpc::exec"; }

def Exec_Reduction : I32EnumAttr<"Reduction", "How a collective combines elements, numbered as DPC_SUM, ...", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
]> { let cppNamespace = "::dpc::exec"; }

class Exec_Attr<string name, string mnemonicName> : AttrDef<Exec_Dialect, name> {
  let mnemonic = mnemonicName;
}

def Exec_MemoryAttr : Exec_Attr<"Memory", "memory"> {
  let summary = "Bytes of each space of a rank";
  let description = [{
    On the module as `exec.memory`, written by `dpc-assign-offsets`. `peak` is the
    number of bytes that the plan needs in both spaces together; `lowerBound` is a
    number that no plan can be below.
  }];
  let parameters = (ins "int64_t":$arena, "int64_t":$shared, "int64_t":$peak,
                        "int64_t":$lowerBound);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_MemoryUseAttr : Exec_Attr<"MemoryUse", "memory_use"> {
  let summary = "What the memory of a rank is for, in bytes";
  let description = [{
    `parameters`, `optimizer` (state), `buffers` (running statistics and frozen values) and `data`
    (inputs, labels, controls, outputs, metrics) are the bytes of persistent buffers. `gradients`,
    `gathered` parameters and `activations` are the bytes of temporaries at the moment when all
    temporaries together need most. `gaps` are the bytes that alignment and the placing of buffers
    cost beyond that. The sum of all fields is the peak.
  }];
  let parameters = (ins "int64_t":$parameters, "int64_t":$optimizer, "int64_t":$buffers,
                        "int64_t":$data, "int64_t":$gradients, "int64_t":$gathered,
                        "int64_t":$activations, "int64_t":$gaps);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveTensorAttr : Exec_Attr<"LiveTensor", "live_tensor"> {
  let summary = "A buffer, for messages about memory";
  let description = [{
    `name` is the name of the state, or of the ONNX node that makes the buffer; empty if
    there is neither. `type` is the type of the buffer.
  }];
  let parameters = (ins StringRefParameter<"">:$name, "::mlir::Type":$type, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveBytesAttr : Exec_Attr<"LiveBytes", "live_bytes"> {
  let summary = "What is live at moments of a step";
  let description = [{
    On the module as `exec.live_bytes`, written by `dpc-assign-offsets`. `afterForward`:
    the bytes of values that the forward pass of `step` makes and that are read after it.
    `largest`: the largest tensors (#exec.live_tensor) that are live at the moment when a
    rank needs most memory.
  }];
  let parameters = (ins "int64_t":$afterForward, "::mlir::ArrayAttr":$largest);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_CallAttr : Exec_Attr<"Call", "call"> {
  let summary = "A library call that may compute the results of a launch";
  let description = [{
    The keyword is the kind of the call. The fields in braces are those of the C
    struct that the kind has in a header of `runtime/include/dpc`; the attribute
    holds the bytes of this struct. `buffers` has the buffers of the call in the
    order that the kind defines. Each is one of the kernel's buffers, from byte `at`
    on (0 if absent). The library may use as many of its bytes as `for` says, or all
    of them if `for` is absent.

    For example, a `product` (`dpc_product_t`) is `d = a b` for each of `batches`
    batch elements, where `d` has `rows` rows and `columns` columns and `a` has
    `depth` columns. The elements of a row (of a column if `transposed`) are
    contiguous. Neighbouring rows (columns) are `stride` elements apart, and the
    matrices of neighbouring batch elements `batchStride` elements. The `epilogue` is
    applied to the sums before they are stored: `add` adds the element of a matrix;
    `bias` adds the element of a vector with one element per column. The buffers are
    `a`, `b`, `d`, scratch memory of the library, and the matrix or vector that the
    epilogue adds, if it adds one.

    ```mlir
    #sums = #exec.call<product {type = f32, tf32 = false, epilogue = none,
      batches = 1, rows = 96, columns = 32, depth = 64,
      a = {stride = 64, batchStride = 0, transposed = false},
      b = {stride = 32, batchStride = 0, transposed = false},
      d = {stride = 32, batchStride = 0, transposed = false}},
      buffers = [0, 1, 2, 3 at 6400 for 4096]>
    ```
  }];
  let parameters = (ins "uint32_t":$kind, StringRefParameter<>:$description,
                        ArrayRefParameter<"::dpc::exec::CallBuffer">:$buffers);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Exec_GridAttr : Exec_Attr<"Grid", "grid"> {
  let summary = "A launch of a grid of threads, one of those that make a kernel";
  let description = [{
    Runs a function in `blocks` blocks of `threads` threads. The name of the
    function is the kernel's name followed by `entry`. Its arguments are the
    kernel's buffers with the numbers in `buffers`: first the operands are counted,
    then the results, then scratch memory. If there is a `call`, a library may
    compute the results instead. `lone` marks a launch in which one thread does all the work,
    for reports.

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
                        DefaultValuedParameter<"bool", "false">:$lone);
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
  let summary = "What a buffer or a collective is for";
  let description = [{
    On exec.buffer and exec.start, for reports only: no decision depends on it. If
    it is absent, the purpose is `activations`.

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
    The binding of a persistent buffer that the host fills with a coordinate, as it
    fills controls. The axis is not sequential: the number of a microbatch changes
    while an entry runs (exec.microbatch).

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
  let summary = "A communication under way";
  let description = "What `exec.start` gives and `exec.wait` takes: each event is waited for once.";
}

#endif // DPC_DIALECTS_EXEC_IR_EXECATTRS_TD

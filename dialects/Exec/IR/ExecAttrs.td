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
    Stands on the module as `exec.memory`, written by `dpc-assign-offsets`. `peak`
    is what the plan needs over both spaces, `lowerBound` what no plan can
    undercut.
  }];
  let parameters = (ins "int64_t":$arena, "int64_t":$shared, "int64_t":$peak,
                        "int64_t":$lowerBound);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_MemoryUseAttr : Exec_Attr<"MemoryUse", "memory_use"> {
  let summary = "What the memory of a rank is for, in bytes";
  let description = [{
    Of what lives as long as the program: parameters, optimizer state, buffers
    (running statistics and frozen values), `data` (inputs, labels, controls,
    outputs, metrics). Of the rest, gradients, `gathered` parameters and activations at
    the moment when all together need most; `gaps` is what alignment and the placing of the others
    cost beyond that. Together they are the peak.
  }];
  let parameters = (ins "int64_t":$parameters, "int64_t":$optimizer, "int64_t":$buffers,
                        "int64_t":$data, "int64_t":$gradients, "int64_t":$gathered,
                        "int64_t":$activations, "int64_t":$gaps);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveTensorAttr : Exec_Attr<"LiveTensor", "live_tensor"> {
  let summary = "A buffer, for messages about memory";
  let description = [{
    `name` is that of the state, or of the ONNX node that makes it; empty where there is
    none. Its `type` is the buffer's.
  }];
  let parameters = (ins StringRefParameter<"">:$name, "::mlir::Type":$type, "int64_t":$bytes);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_LiveBytesAttr : Exec_Attr<"LiveBytes", "live_bytes"> {
  let summary = "What is live at moments of a step";
  let description = [{
    Stands on the module as `exec.live_bytes`, written by `dpc-assign-offsets`.
    `afterForward`: bytes that are made by the end of the forward pass of `step` and read
    later. `largest`: the largest tensors (#exec.live_tensor) at the moment when a rank
    needs most.
  }];
  let parameters = (ins "int64_t":$afterForward, "::mlir::ArrayAttr":$largest);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_MatrixAttr : Exec_Attr<"Matrix", "matrix"> {
  let summary = "Where a matrix of each batch lies in one of a kernel's buffers";
  let description = [{
    Its first element lies `offset` bytes behind the buffer's start. Elements of a
    row (of a column where `transposed`) are neighbours; between neighbouring rows
    (columns) are `stride` elements, between matrices of neighbouring batches
    `batchStride`.

    ```mlir
    #activations = #exec.matrix<buffer = 0, offset = 0, stride = 768, batchStride = 0, transposed = false>
    ```
  }];
  let parameters = (ins "int64_t":$buffer, "int64_t":$offset, "int64_t":$stride,
                        "int64_t":$batchStride, "bool":$transposed);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Exec_Epilogue : I32EnumAttr<"Epilogue", "What a product adds to its sums, numbered as DPC_EPILOGUE_*", [
  I32EnumAttrCase<"none", 0>, I32EnumAttrCase<"add", 1>, I32EnumAttrCase<"bias", 2>,
]> {
  let cppNamespace = "::dpc::exec";
  let genSpecializedAttr = 0;
}

def Exec_ProductAttr : Exec_Attr<"Product", "product"> {
  let summary = "A product of matrices that a library may make in place of a launch";
  let description = [{
    `d = a b`, where `d` has `rows` rows and `columns` columns and `a` has `depth`
    columns, for each of `batches`. The `epilogue` is done with the sums before they
    are stored: `add` adds the element of `addend`, `bias` that of a vector of all
    columns, the one row of `addend`. Without one `addend` means nothing. Meanwhile
    `workspaceBytes` bytes of the buffer of `workspace` are the library's own.

    ```mlir
    #sums = #exec.product<type = f32, tf32 = false, batches = 1, rows = 96, columns = 32, depth = 64,
      a = <buffer = 0, offset = 0, stride = 64, batchStride = 0, transposed = false>,
      b = <buffer = 1, offset = 0, stride = 32, batchStride = 0, transposed = false>,
      d = <buffer = 2, offset = 0, stride = 32, batchStride = 0, transposed = false>,
      epilogue = none,
      addend = <buffer = 0, offset = 0, stride = 0, batchStride = 0, transposed = false>,
      workspace = <buffer = 3, offset = 0, stride = 0, batchStride = 0, transposed = false>,
      workspaceBytes = 4096>
    ```
  }];
  let parameters = (ins "::mlir::Type":$type, "bool":$tf32, "int64_t":$batches, "int64_t":$rows,
                        "int64_t":$columns, "int64_t":$depth, "::dpc::exec::MatrixAttr":$a,
                        "::dpc::exec::MatrixAttr":$b, "::dpc::exec::MatrixAttr":$d,
                        EnumParameter<Exec_Epilogue>:$epilogue, "::dpc::exec::MatrixAttr":$addend,
                        "::dpc::exec::MatrixAttr":$workspace, "int64_t":$workspaceBytes);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Exec_GridAttr : Exec_Attr<"Grid", "grid"> {
  let summary = "A launch of a grid of threads, one of those that make a kernel";
  let description = [{
    The function whose name is the kernel's and `entry` behind it runs in `blocks`
    blocks of `threads` threads. Its arguments are the kernel's buffers with these
    numbers: the operands are counted first, then the results, then scratch
    memory. A library may make `product`, if there is one, instead. Where `lone`
    one thread does all of it: reports name such launches.

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
                        OptionalParameter<"::dpc::exec::ProductAttr">:$product,
                        DefaultValuedParameter<"bool", "false">:$lone);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Exec_Purpose : I32EnumAttr<"Purpose", "What a buffer or a collective is for", [
  I32EnumAttrCase<"activations", 0>, // values of the model and their gradients
  I32EnumAttrCase<"gradients", 1>,   // what updates read
  I32EnumAttrCase<"parameters", 2>,  // state: what updates write
  I32EnumAttrCase<"metrics", 3>,     // single numbers: losses, counts, norms
  I32EnumAttrCase<"gathered", 4>,    // copies of state that is held cut
]> {
  let cppNamespace = "::dpc::exec";
  let genSpecializedAttr = 0;
}

def Exec_PurposeAttr : Exec_Attr<"Purpose", "purpose"> {
  let summary = "What a buffer or a collective is for";
  let description = [{
    On exec.buffer and exec.start, for reports: nothing is decided by it. Absent
    stands for activations.

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
    What a persistent buffer holds that the host fills, as it fills controls. The
    axis is not sequential: the number of a microbatch is no fact of a rank
    (exec.microbatch).

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

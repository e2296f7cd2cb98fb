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
    outputs, metrics). Of the rest, gradients and activations at the moment when both
    together need most; `gaps` is what alignment and the placing of the others
    cost beyond that. Together they are the peak.
  }];
  let parameters = (ins "int64_t":$parameters, "int64_t":$optimizer, "int64_t":$buffers,
                        "int64_t":$data, "int64_t":$gradients, "int64_t":$activations,
                        "int64_t":$gaps);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Exec_GridAttr : Exec_Attr<"Grid", "grid"> {
  let summary = "A launch of a grid of threads, one of those that make a kernel";
  let description = [{
    The function whose name is the kernel's and `entry` behind it runs in `blocks`
    blocks of `threads` threads. Its arguments are the kernel's buffers with these
    numbers: the operands are counted first, then the results, then scratch
    memory.

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
                        "::mlir::DenseI64ArrayAttr":$buffers);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Exec_Purpose : I32EnumAttr<"Purpose", "What a buffer or a collective is for", [
  I32EnumAttrCase<"activations", 0>, // values of the model and their gradients
  I32EnumAttrCase<"gradients", 1>,   // what updates read
  I32EnumAttrCase<"parameters", 2>,  // state: what updates write
  I32EnumAttrCase<"metrics", 3>,     // single numbers: losses, counts, norms
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

#ifndef DPC_DIALECTS_NN_PARTITION_PARTITIONOPINTERFACE_TD
#define DPC_DIALECTS_NN_PARTITION_PARTITIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PartitionOpInterface : OpInterface<"PartitionOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    Builds the computation of one device for an op whose attributes or indices refer
    to the logical tensor, e.g. `nn.iota` or `nn.gather`. Partitioning clones an op
    without this interface, with the local shards as operands. PartitionModels.cpp
    attaches the interface to ops (external models), so that the definitions of ops
    do not depend on layouts.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds ops that compute this device's shards of the results from its shards of
      the operands. Returns one value per result; its type is that of a shard of
      `resultLayouts`. Creates no collective. Padding may have any value, both in
      the operands and in the results.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "partition",
      (ins "::dpc::PartitionContext &":$context,
           "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<::dpc::dist::Layout>":$operandLayouts,
           "::llvm::ArrayRef<::dpc::dist::Layout>":$resultLayouts)>,
    InterfaceMethod<[{
      Whether the ops that `partition` builds leave out the padding of operand `operand`. If
      not, partitioning fills padding along reduced loops before.
    }], "bool", "skipsPadding", (ins "unsigned":$operand), "", [{ return false; }]>,
  ];
}

#endif // DPC_DIALECTS_NN_PARTITION_PARTITIONOPINTERFACE_TD

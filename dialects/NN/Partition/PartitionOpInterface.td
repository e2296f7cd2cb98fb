#ifndef DPC_DIALECTS_NN_PARTITION_PARTITIONOPINTERFACE_TD
#define DPC_DIALECTS_NN_PARTITION_PARTITIONOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def PartitionOpInterface : OpInterface<"PartitionOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    The computation of one device for an op whose attributes or indices are global.
    An op without this interface is cloned on the local shards. Attached to ops from
    outside (external models), so that op definitions do not depend on layouts.
  }];
  let methods = [
    InterfaceMethod<[{
      Builds the op on local shards; one value a result, of the local type of its
      layout. Creates no collective. Padding is unspecified, in and out.
    }], "::mlir::FailureOr<::llvm::SmallVector<::mlir::Value>>", "partition",
      (ins "::dpc::PartitionContext &":$context,
           "::mlir::ValueRange":$operands,
           "::llvm::ArrayRef<::dpc::dist::Layout>":$operandLayouts,
           "::llvm::ArrayRef<::dpc::dist::Layout>":$resultLayouts)>,
  ];
}

#endif // DPC_DIALECTS_NN_PARTITION_PARTITIONOPINTERFACE_TD

#ifndef DPC_DIALECTS_INTERFACES_SHARDABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_SHARDABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    How an op's loops may be cut over devices. Each device then computes the op on
    its shards, or the ops that `PartitionOpInterface` builds. Neither creates a
    collective: the lowering of reshards does.
  }];
  let methods = [
    InterfaceMethod<"The op's loops; see ShardingRule.",
      "::dpc::ShardingRule", "getShardingRule", (ins)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_SHARDABLEOPINTERFACE_TD

#ifndef DPC_DIALECTS_INTERFACES_SHARDABLEOPINTERFACE_TD
#define DPC_DIALECTS_INTERFACES_SHARDABLEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ShardableOpInterface : OpInterface<"ShardableOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    Says how mesh axes may shard the loops of an op. After partitioning, each
    device computes the op on its shards, or computes the ops that
    `PartitionOpInterface` builds. Neither interface creates collectives; the
    lowering of reshards creates them.
  }];
  let methods = [
    InterfaceMethod<[{
      The loops of the op, and the dimensions that each loop runs along; see
      ShardingRule.
    }],
      "::dpc::ShardingRule", "getShardingRule", (ins)>,
  ];
}

#endif // DPC_DIALECTS_INTERFACES_SHARDABLEOPINTERFACE_TD

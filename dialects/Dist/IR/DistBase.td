#ifndef DPC_DIALECTS_DIST_IR_DISTBASE_TD
#define DPC_DIALECTS_DIST_IR_DISTBASE_TD

include "dialects/Dist/IR/CollectiveOpInterface.td"
include "dialects/Dist/IR/DistAttrs.td"
include "dialects/Interfaces/InterpretableOpInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_Tensor : StaticShapeTensorOf<[AnyFloat, AnyInteger]>;
def Dist_Interpretable : DeclareOpInterfaceMethods<InterpretableOpInterface>;

class Dist_Op<string mnemonic, list<Trait> traits = []>
    : Op<Dist_Dialect, mnemonic, traits>;

// An op that the devices of a group perform together. Devices that have the same
// coordinate on every mesh axis except those in `axes` form a group. The members of a
// group are numbered by their coordinates along `axes`, with the first axis varying
// slowest.
class Dist_GroupOp<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat([
        Pure, Dist_Interpretable,
        DeclareOpInterfaceMethods<SymbolUserOpInterface>], traits)>;

// An op by which the devices of a group exchange data. The mnemonic must be the name of
// a case of the enum Collective, because getCollective returns this case.
class Dist_CollectiveOp<string mnemonic, list<Trait> traits = []>
    : Dist_GroupOp<mnemonic, !listconcat([CollectiveOpInterface], traits)> {
  let extraClassDeclaration = [{
    ::dpc::dist::Collective getCollective() { return ::dpc::dist::Collective::}] # mnemonic # [{; }
  }];
}

#endif // DPC_DIALECTS_DIST_IR_DISTBASE_TD

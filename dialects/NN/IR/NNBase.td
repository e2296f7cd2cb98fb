#ifndef DPC_DIALECTS_NN_IR_NNBASE_TD
#define DPC_DIALECTS_NN_IR_NNBASE_TD

include "dialects/Interfaces/CostOpInterface.td"
include "dialects/Interfaces/DecomposableOpInterface.td"
include "dialects/Interfaces/DifferentiableOpInterface.td"
include "dialects/Interfaces/ElementwiseOpInterface.td"
include "dialects/Interfaces/FusableOpInterface.td"
include "dialects/Interfaces/GradientFormOpInterface.td"
include "dialects/Interfaces/InterpretableOpInterface.td"
include "dialects/Interfaces/KernelOpInterface.td"
include "dialects/Interfaces/PrecisionOpInterface.td"
include "dialects/Interfaces/ShardableOpInterface.td"
include "dialects/Interfaces/TrainingModeOpInterface.td"
include "dialects/NN/IR/NNAttrs.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

/// Tensors of static shape that have at most kMaxElements elements.
class NN_TensorOf<list<Type> elements, string summary> : Type<
    And<[StaticShapeTensorOf<elements>.predicate,
         CPred<"::dpc::hasCountableElements($_self)">]>,
    "statically shaped tensor of " # summary # " values, at most 2^40 of them",
    "::mlir::TensorType">;
def NN_Tensor : NN_TensorOf<[AnyFloat, AnyInteger], "floating-point or integer">;
def NN_FloatTensor : NN_TensorOf<[AnyFloat], "floating-point">;
def NN_IntTensor : NN_TensorOf<[AnyInteger], "integer">;
def NN_BoolTensor : NN_TensorOf<[I1], "1-bit signless integer">;
def NN_IndexTensor : NN_TensorOf<[I32, I64], "32-bit signless integer or 64-bit signless integer">;
def NN_FloatScalar : 0DTensorOf<[AnyFloat]>;
def NN_IntScalar : 0DTensorOf<[AnyInteger]>;

def NN_Interpretable : DeclareOpInterfaceMethods<InterpretableOpInterface>;
def NN_Differentiable : DeclareOpInterfaceMethods<DifferentiableOpInterface>;
def NN_Decomposable : DeclareOpInterfaceMethods<DecomposableOpInterface>;
def NN_Shardable : DeclareOpInterfaceMethods<ShardableOpInterface>;
def NN_Fusable : DeclareOpInterfaceMethods<FusableOpInterface>;
def NN_TrainingMode : DeclareOpInterfaceMethods<TrainingModeOpInterface>;
/// The costs of an op that only moves data: the default bytes and no operations.
def NN_Moves : DeclareOpInterfaceMethods<CostOpInterface>;
/// The costs of an op that computes: the default bytes, operations that the op itself counts, and
/// its class.
def NN_Computes : DeclareOpInterfaceMethods<CostOpInterface, ["getFlops", "getKernelClass"]>;

class NN_Op<string mnemonic, list<Trait> traits = []>
    : Op<NN_Dialect, mnemonic, traits>;

#endif // DPC_DIALECTS_NN_IR_NNBASE_TD

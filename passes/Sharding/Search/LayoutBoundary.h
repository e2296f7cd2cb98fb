#ifndef DPC_PASSES_SHARDING_SEARCH_LAYOUTBOUNDARY_H
#define DPC_PASSES_SHARDING_SEARCH_LAYOUTBOUNDARY_H

#include "passes/Sharding/Search/Placement.h"

#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/DenseSet.h"

#include <set>

namespace dpc {

/// Layouts of arguments: those that the program gives, and those that were chosen for an earlier
/// function. Layouts are chosen for @step first. If the host treats an argument of another function
/// as the same tensor, this argument gets the same layout.
class KnownLayouts {
public:
  explicit KnownLayouts(const dist::MeshShape &mesh) : mesh(mesh) {}

  /// The layout of `arg`, or of the state `name`; null if it is not known.
  const dist::Layout *find(nn::ArgAttr arg) const;
  const dist::Layout *findState(llvm::StringRef name) const;
  /// Records the layout of `arg`. Returns false if it was known already.
  bool add(nn::ArgAttr arg, const dist::Layout &layout);
  /// Adds the layouts (`dist.layout`) that the program gives to state. Fails with an error if a
  /// state cannot have its layout.
  mlir::LogicalResult addGiven(mlir::func::FuncOp function);

  /// Returns the layout in which state is held between steps if it has `layout` in a step. The
  /// returned layout is not sharded over sequential axes, because every iteration of a loop takes
  /// its slice from the same buffer.
  dist::Layout stored(dist::Layout layout) const;

private:
  const dist::MeshShape &mesh;
  std::map<std::string, dist::Layout> layouts;
};

/// The structures that dimensions of values have when the analysis starts, as (value, dimension,
/// structure).
using StructureSeeds = std::vector<std::tuple<mlir::Value, unsigned, dist::DimStructure>>;

/// The demands on layouts at the boundary of a function, that is, of its arguments and results:
/// samples are sharded over the axes of the batch, known layouts stay, and requests are answered.
class LayoutBoundary {
public:
  /// All arguments must outlive the object.
  LayoutBoundary(mlir::func::FuncOp function, const dist::MeshShape &mesh,
                 llvm::ArrayRef<std::string> batchAxes, KnownLayouts &known)
      : function(function), mesh(mesh), batchAxes(batchAxes), known(known) {}

  /// Reads the requests of the function. If all atoms of a dimension of state are smaller than a
  /// requested axis, no atom of `program` can answer the request. The request then becomes a known
  /// layout, in which the axis shards the dimension as one loop. Returns whether there are new
  /// layouts of this kind. If so, the analysis of loops must be repeated with them.
  mlir::FailureOr<bool> readRequests(const ProgramLoops &program);
  llvm::ArrayRef<LayoutRequest> getRequests() const { return requests; }
  /// Keeps each state that has a request whole over the axes that the request does not name
  /// (ProgramLoops::keepWhole). Keeps updates of state whole over sequential axes
  /// (ProgramLoops::keepUpdatesWhole).
  void keepWhole(ProgramLoops &program) const;

  /// Collects the structures of the batch and of arguments with known layouts. The batch gets a
  /// factor of exactly the size of each sequential axis, because all microbatches have the same
  /// size. Other dimensions get the factors of the known layout. Fails with an error if the batch
  /// does not divide into the microbatches.
  mlir::LogicalResult collectSeeds(StructureSeeds &seeds) const;
  /// The axes that shard the atoms of the batch and of arguments with known layouts.
  AxisPlan cutsOf(const ProgramLoops &program) const;

  mlir::func::FuncOp getFunction() const { return function; }
  bool isKnown(unsigned argument) const;
  /// The batch dimension of an input or label, or -1.
  int64_t batchDim(unsigned argument) const;
  /// The atoms that count samples.
  llvm::SmallVector<unsigned> samplesOf(const ProgramLoops &program) const;
  /// The atoms that the search does not decide about: atoms that count samples, and atoms of
  /// arguments with known layouts. Callers may only look up keys in the set, because its order is
  /// arbitrary.
  llvm::DenseSet<unsigned> settledOf(const ProgramLoops &program) const;
  /// Inputs and labels without a batch dimension.
  llvm::SmallVector<mlir::Value> getInputs() const;
  /// The axes over which requests shard inputs; the host delivers these inputs sharded. As with the
  /// axes of the batch, parameters need not be sharded over these axes.
  std::set<std::string> getInputAxes() const;

  /// The layout of argument number `argument` under the plan of `assignment`.
  dist::Layout argumentLayout(const Assignment &assignment, unsigned argument) const;
  /// The values that the function returns, with the facts that decide their layouts: the argument
  /// of which a value is the next state, if any, and whether the value is an output.
  std::vector<Assignment::Returned> getReturned() const;
  /// Checks that each state that is returned is also an argument of the same type, or has a known
  /// layout.
  mlir::LogicalResult checkReturned() const;
  /// The dimension of `value` whose outermost loop is the loop over the batch; -1 if there is none.
  /// A batch of 1 has no loop. Then a first dimension of 1 counts samples, as it does for inputs.
  int64_t batchDimOf(const ProgramLoops &program, mlir::Value value) const;

private:
  bool isSequential(llvm::StringRef axis) const {
    return mesh.axes[*mesh.axisIndex(axis)].sequential;
  }
  const dist::Layout *findKnown(unsigned argument) const;
  const LayoutRequest *findRequest(mlir::Value argument) const;
  bool settle(const LayoutRequest &request, const ProgramLoops &program);
  void cutBatch(const ProgramLoops &program, AxisPlan &plan) const;
  void cutKnownDim(const ProgramLoops &program, const AtomDim &atoms, const dist::DimLayout &layout,
                   AxisPlan &plan) const;

  /// A handle to the function; mutable because the methods of FuncOp are not const.
  mutable mlir::func::FuncOp function;
  const dist::MeshShape &mesh;
  llvm::ArrayRef<std::string> batchAxes;
  KnownLayouts &known;
  std::vector<LayoutRequest> requests;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LAYOUTBOUNDARY_H

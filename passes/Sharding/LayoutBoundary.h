#ifndef DPC_PASSES_SHARDING_LAYOUTBOUNDARY_H
#define DPC_PASSES_SHARDING_LAYOUTBOUNDARY_H

#include "passes/Sharding/Placement.h"

#include "dialects/NN/IR/HostFacts.h"
#include "dialects/NN/IR/NNDialect.h"

#include "llvm/ADT/DenseSet.h"

#include <set>

namespace dpc {

/// Layouts of arguments that were given, or decided for @step, which comes first:
/// arguments of other functions that are the same to the host lie alike.
class KnownLayouts {
public:
  explicit KnownLayouts(const dist::MeshShape &mesh) : mesh(mesh) {}

  /// Null if nothing is known.
  const dist::Layout *find(nn::ArgAttr arg) const;
  const dist::Layout *findState(llvm::StringRef name) const;
  /// Says how `arg` lies; false if that was known.
  bool add(nn::ArgAttr arg, const dist::Layout &layout);
  /// Adds state that the program says the layout of. Fails with an error where it
  /// could not lie so.
  mlir::LogicalResult addGiven(mlir::func::FuncOp function);

  /// How state of `layout` is held between steps: not cut over sequential axes,
  /// since every iteration of a loop takes its slice from the same buffer.
  dist::Layout stored(dist::Layout layout) const;

private:
  const dist::MeshShape &mesh;
  std::map<std::string, dist::Layout> layouts;
};

/// Structures to start from: value, dimension, factors.
using StructureSeeds = std::vector<std::tuple<mlir::Value, unsigned, dist::DimStructure>>;

/// What a function's arguments and results demand of layouts: samples are cut over
/// the axes of the batch, what is known stays, requests are answered.
class LayoutBoundary {
public:
  /// All outlive the object.
  LayoutBoundary(mlir::func::FuncOp function, const dist::MeshShape &mesh,
                 llvm::ArrayRef<std::string> batchAxes, KnownLayouts &known)
      : function(function), mesh(mesh), batchAxes(batchAxes), known(known) {}

  /// Reads the requests of the function. Those for state that no atom of `program`
  /// can answer, all being smaller than an axis, become known layouts: the loop is
  /// that of the whole dimension. Returns whether there were any that were not known,
  /// with which the analysis has to begin anew.
  mlir::FailureOr<bool> readRequests(const ProgramLoops &program);
  llvm::ArrayRef<LayoutRequest> getRequests() const { return requests; }
  /// Keeps what is computed with state whole over the axes that it is asked to have
  /// in no dimension (ProgramLoops::keepWhole).
  void keepWhole(ProgramLoops &program) const;

  /// On the batch, sequential axes get a factor of exactly their size, since
  /// microbatches are equal; state has the factors that were cut before. Fails, with
  /// an error, where the batch does not divide.
  mlir::LogicalResult collectSeeds(StructureSeeds &seeds) const;
  /// The cuts of the batch, and of what is known.
  AxisPlan cutsOf(const ProgramLoops &program) const;

  mlir::func::FuncOp getFunction() const { return function; }
  bool isKnown(unsigned argument) const;
  /// The batch dimension of an input or label, or -1.
  int64_t batchDim(unsigned argument) const;
  /// The atoms that count samples.
  llvm::SmallVector<unsigned> samplesOf(const ProgramLoops &program) const;
  /// Those that are not asked about: of samples, and of what is known. To be looked up
  /// by key only.
  llvm::DenseSet<unsigned> settledOf(const ProgramLoops &program) const;
  /// Inputs and labels without a batch dimension.
  llvm::SmallVector<mlir::Value> getInputs() const;
  /// Axes by which inputs are delivered to devices: as with the batch, nobody asks
  /// for parameters to be cut over them.
  std::set<std::string> getInputAxes() const;

  /// The layout of argument number `argument` under an assignment's plan.
  dist::Layout argumentLayout(const Assignment &assignment, unsigned argument) const;
  /// What the function returns, and how that has to lie.
  std::vector<Assignment::Returned> getReturned() const;
  /// Whether state that is returned is an argument's, of one type.
  mlir::LogicalResult checkReturned() const;
  /// The dimension of `value` that the loop over the batch runs along, outermost in
  /// it, or -1. A batch of 1 has no loop: there the first dimension counts samples, as
  /// it does for inputs.
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

  /// A handle, of which no method is const.
  mutable mlir::func::FuncOp function;
  const dist::MeshShape &mesh;
  llvm::ArrayRef<std::string> batchAxes;
  KnownLayouts &known;
  std::vector<LayoutRequest> requests;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTBOUNDARY_H

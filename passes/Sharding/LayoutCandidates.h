#ifndef DPC_PASSES_SHARDING_LAYOUTCANDIDATES_H
#define DPC_PASSES_SHARDING_LAYOUTCANDIDATES_H

#include "passes/Sharding/LayoutRequests.h"
#include "passes/Sharding/LayoutSearch.h"

namespace dpc {

/// The cuts that a function may get in addition to those of its batch, and the bytes of parameters
/// that a device should then hold.
class LayoutCandidates {
public:
  /// Parameters are to be divided over `axes`. `settled` holds the atoms that the search does not
  /// decide about: atoms that count samples, and atoms of tensors whose layouts are given.
  LayoutCandidates(mlir::func::FuncOp function, const ProgramLoops &program,
                   const dist::MeshShape &mesh, llvm::ArrayRef<std::string> axes,
                   llvm::DenseSet<unsigned> settled);

  /// Requires that each axis of `request` shards an atom of its dimension, in each segment of that
  /// dimension. The atom may belong to a tensor whose layout is given. If the value is a parameter,
  /// the search no longer decides about it.
  void addRequest(const LayoutRequest &request, LayoutProblem &problem);
  /// Adds the cuts with which an op makes its result in the layout of `request`. None of them is
  /// required, because a reshard brings the result to that layout otherwise.
  void addBrought(const LayoutRequest &request, LayoutProblem &problem);
  /// Adds the cuts over the axes of all parameters that have no request to `problem`.
  void addParameters(LayoutProblem &problem);
  /// Adds cuts of parameters with a request that the request does not ask for. Ops that read such a
  /// parameter may be divided along other loops than the parameter is.
  void addBesideRequests(LayoutProblem &problem);
  /// Adds the cuts over `axis` of integer inputs and labels that have no batch dimension. Then the
  /// values that they index, such as rows picked out of all samples, may be divided too.
  void addInputs(llvm::StringRef axis, llvm::ArrayRef<mlir::Value> inputs, LayoutProblem &problem);

  /// The bytes of parameters that a device holds under `assignment` beyond its share.
  double excessBytes(const Assignment &assignment) const;

private:
  void addParameters(llvm::StringRef axis, LayoutProblem &problem);
  void addGroup(const AtomDim &dim, llvm::StringRef axis, LayoutProblem &problem);
  unsigned requestedCutOf(unsigned atom, llvm::StringRef axis, LayoutProblem &problem);
  unsigned cutOf(unsigned atom, llvm::StringRef axis, LayoutProblem &problem);
  double countDevices(const dist::Layout &layout) const;
  /// Whether the axis can shard the atom at all: the atom has an index for each device, and no
  /// given cut.
  bool isFree(unsigned atom, llvm::StringRef axis, const LayoutProblem &problem) const;
  bool canCut(unsigned atom, llvm::StringRef axis, const LayoutProblem &problem) const;

  const ProgramLoops &program;
  const dist::MeshShape &mesh;
  const llvm::SmallVector<std::string> axes;
  const llvm::DenseSet<unsigned> settled;
  std::vector<llvm::SmallVector<unsigned>> classes;
  /// By atom: the number of its class.
  std::vector<unsigned> classOf;
  /// The values that contractions and gathers read. Looked up by key only: its order never shows.
  llvm::DenseSet<mlir::Value> reduced;
  /// The parameters without a request, and the bytes of all parameters.
  llvm::SmallVector<mlir::Value> parameters;
  double allBytes = 0;
  /// The parameters with a request.
  llvm::SmallVector<mlir::Value> asked;
  /// Numbers of cuts, by class and axis.
  std::map<std::pair<unsigned, std::string>, unsigned> cuts;
  /// Numbers of cuts that requests ask for. Such a cut has only the requested atoms of a class, and
  /// the other atoms of the class get another cut. `requestedCuts` is by class and axis,
  /// `requested` by atom and axis.
  std::map<std::pair<unsigned, std::string>, unsigned> requestedCuts, requested;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTCANDIDATES_H

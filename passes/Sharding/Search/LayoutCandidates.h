#ifndef DPC_PASSES_SHARDING_SEARCH_LAYOUTCANDIDATES_H
#define DPC_PASSES_SHARDING_SEARCH_LAYOUTCANDIDATES_H

#include "passes/Sharding/Search/LayoutRequests.h"
#include "passes/Sharding/Search/LayoutSearch.h"

namespace dpc {

/// Finds the cuts that the search for layouts may add to a plan. Every plan has some given cuts,
/// for example those of the batch. Also computes how many bytes of parameters a device holds beyond
/// its share.
class LayoutCandidates {
public:
  /// Parameters are to be divided over `axes`. `settled` holds the atoms that the search does not
  /// decide about: atoms that count samples, and atoms of tensors whose layouts are given.
  LayoutCandidates(mlir::func::FuncOp function, const ProgramLoops &program,
                   const dist::MeshShape &mesh, llvm::ArrayRef<std::string> axes,
                   llvm::DenseSet<unsigned> settled);

  /// For each dimension of `request` and each axis that is requested for it, requires that the axis
  /// shards an atom in each segment of the dimension. The atom may belong to a tensor whose layout
  /// is given. If the value is a parameter, addParameters() no longer adds cuts for it.
  void addRequest(const LayoutRequest &request, LayoutProblem &problem);
  /// Adds the cuts that let an op compute its result directly in the layout of `request`. These
  /// cuts are optional: without them, a reshard changes the result to that layout.
  void addBrought(const LayoutRequest &request, LayoutProblem &problem);
  /// Adds the cuts of each parameter that has no request and that a contraction or a gather reads.
  void addParameters(LayoutProblem &problem);
  /// If a parameter has a request, adds the cuts of this parameter that its request does not name.
  /// Then an op that reads the parameter may shard a loop along which the parameter is not sharded.
  void addBesideRequests(LayoutProblem &problem);
  /// Adds the cuts over `axis` of integer inputs and labels that have no batch dimension. If a
  /// gather takes its indices from such an input, the result of the gather may then be sharded too.
  /// Such a gather picks rows out of all samples, for example.
  void addInputs(llvm::StringRef axis, llvm::ArrayRef<mlir::Value> inputs, LayoutProblem &problem);

  /// The bytes of parameters that a device holds or reads under `assignment` beyond its share and a
  /// small tolerance. Parameters with a request do not count.
  double excessBytes(const Assignment &assignment) const;

private:
  void addParameters(llvm::StringRef axis, LayoutProblem &problem);
  void addGroup(const AtomDim &dim, llvm::StringRef axis, LayoutProblem &problem);
  unsigned requestedCutOf(unsigned atom, llvm::StringRef axis, LayoutProblem &problem);
  unsigned cutOf(unsigned atom, llvm::StringRef axis, LayoutProblem &problem);
  double countDevices(const dist::Layout &layout) const;
  /// Whether the axis can shard the atom at all: the atom has at least one index per device along
  /// the axis, and no given cut has the atom.
  bool isFree(unsigned atom, llvm::StringRef axis, const LayoutProblem &problem) const;
  bool canCut(unsigned atom, llvm::StringRef axis, const LayoutProblem &problem) const;

  const ProgramLoops &program;
  const dist::MeshShape &mesh;
  const llvm::SmallVector<std::string> axes;
  const llvm::DenseSet<unsigned> settled;
  std::vector<llvm::SmallVector<unsigned>> classes;
  /// By atom: the number of its class.
  std::vector<unsigned> classOf;
  /// The values that contractions and gathers read. No code iterates over this set, so its order
  /// cannot affect the program.
  llvm::DenseSet<mlir::Value> reduced;
  /// The parameters without a request, and the bytes of all parameters.
  llvm::SmallVector<mlir::Value> parameters;
  double allBytes = 0;
  /// The parameters with a request.
  llvm::SmallVector<mlir::Value> asked;
  /// Indices into LayoutProblem::cuts, by class and axis.
  std::map<std::pair<unsigned, std::string>, unsigned> cuts;
  /// Indices of the cuts that requests ask for. A requested cut has only the requested atoms of a
  /// class; the other atoms of the class get another cut. `requestedCuts` is by class and axis,
  /// `requested` by atom and axis.
  std::map<std::pair<unsigned, std::string>, unsigned> requestedCuts, requested;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_SEARCH_LAYOUTCANDIDATES_H

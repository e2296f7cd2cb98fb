#ifndef DPC_PASSES_SHARDING_LAYOUTCANDIDATES_H
#define DPC_PASSES_SHARDING_LAYOUTCANDIDATES_H

#include "passes/Sharding/LayoutRequests.h"
#include "passes/Sharding/LayoutSearch.h"

namespace dpc {

/// What may be cut in a function beside its batch, and what parameters a device
/// should hold then.
class LayoutCandidates {
public:
  /// Parameters are to be divided over `axes`. `settled` has the atoms that are not
  /// asked about: those that count samples, and those of tensors whose layouts are
  /// given.
  LayoutCandidates(mlir::func::FuncOp function, const ProgramLoops &program,
                   const dist::MeshShape &mesh, llvm::ArrayRef<std::string> axes,
                   llvm::DenseSet<unsigned> settled);

  /// Adds that each axis of a request cuts an atom of its dimension, in each segment
  /// of it, also one of a tensor whose layout is given. A parameter that is asked for
  /// is none that the search decides about.
  void addRequest(const LayoutRequest &request, LayoutProblem &problem);
  /// Adds the cuts with which a value is made as it is asked for. It is brought there
  /// otherwise, so none is required.
  void addBrought(const LayoutRequest &request, LayoutProblem &problem);
  /// Adds the cuts of all other parameters over the axes to `problem`.
  void addParameters(LayoutProblem &problem);
  /// Adds the cuts of parameters with a request that are not asked for: what is
  /// computed with them may be divided along other loops than they are.
  void addBesideRequests(LayoutProblem &problem);
  /// Adds those of integer inputs and labels that have no batch dimension: what
  /// they number, such as rows picked out of all samples, may be divided too.
  void addInputs(llvm::StringRef axis, llvm::ArrayRef<mlir::Value> inputs, LayoutProblem &problem);

  /// Bytes of parameters that a device holds under an assignment beyond what it
  /// should.
  double excessBytes(const Assignment &assignment) const;

private:
  void addParameters(llvm::StringRef axis, LayoutProblem &problem);
  void addGroup(const AtomDim &dim, llvm::StringRef axis, LayoutProblem &problem);
  unsigned requestedCutOf(unsigned atom, llvm::StringRef axis, LayoutProblem &problem);
  unsigned cutOf(unsigned atom, llvm::StringRef axis, LayoutProblem &problem);
  double countDevices(const dist::Layout &layout) const;
  /// Whether the axis can cut the atom at all, whoever asks.
  bool isFree(unsigned atom, llvm::StringRef axis, const LayoutProblem &problem) const;
  bool canCut(unsigned atom, llvm::StringRef axis, const LayoutProblem &problem) const;

  const ProgramLoops &program;
  const dist::MeshShape &mesh;
  const llvm::SmallVector<std::string> axes;
  const llvm::DenseSet<unsigned> settled;
  std::vector<llvm::SmallVector<unsigned>> classes;
  /// By atom.
  std::vector<unsigned> classOf;
  /// What contractions and gathers read. Looked up by key only: its order never shows.
  llvm::DenseSet<mlir::Value> reduced;
  /// Those that nobody asks for, and the bytes of all.
  llvm::SmallVector<mlir::Value> parameters;
  double allBytes = 0;
  /// Those that somebody asks for.
  llvm::SmallVector<mlir::Value> asked;
  /// Cuts by class and axis.
  std::map<std::pair<unsigned, std::string>, unsigned> cuts;
  /// Those of atoms that requests are about, which others of their class do not
  /// share: by class and axis, and by atom and axis.
  std::map<std::pair<unsigned, std::string>, unsigned> requestedCuts, requested;
};

} // namespace dpc

#endif // DPC_PASSES_SHARDING_LAYOUTCANDIDATES_H

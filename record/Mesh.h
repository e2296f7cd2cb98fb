#ifndef DPC_RECORD_MESH_H
#define DPC_RECORD_MESH_H

#include "dialects/Dist/IR/MeshShape.h"
#include "record/RecordImage.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// The mesh of a program, and the group families that its collectives and buffers use.
class ProgramMesh {
public:
  /// Reads the dist.mesh of the module. If the module has none, the mesh has one rank and
  /// no axes.
  explicit ProgramMesh(mlir::ModuleOp module);

  const dist::MeshShape &getShape() const { return shape; }
  uint32_t getWorldSize() const { return shape.worldSize(); }

  /// Index of the family of groups along `axes`. In the order of a group, the first axis
  /// varies slowest. Adds the family if it is new. Family 0 is the world: one group with
  /// all ranks.
  uint32_t getFamily(llvm::ArrayRef<std::string> axes, llvm::ArrayRef<int64_t> members = {});
  /// Like the other getFamily, with the axes as an attribute. If there are `members`, there is one
  /// axis, and only the ranks with these coordinates on it form groups.
  uint32_t getFamily(mlir::ArrayAttr axes, llvm::ArrayRef<int64_t> members = {});
  uint32_t getFamilyCount() const { return families.size(); }
  /// Number of ranks in each group of the family.
  uint32_t getGroupSize(uint32_t family) const;

  llvm::Constant *emitAxes(llvm::Module &module, ConstantPool &pool) const;
  llvm::Constant *emitFamilies(llvm::Module &module, ConstantPool &pool) const;

private:
  struct Family {
    std::string name;
    /// Members of each group, in the order of the group.
    std::vector<std::vector<uint32_t>> groups;
  };
  dist::MeshShape shape;
  std::vector<Family> families;
};

} // namespace dpc

#endif // DPC_RECORD_MESH_H

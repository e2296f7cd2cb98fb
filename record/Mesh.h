#ifndef DPC_RECORD_MESH_H
#define DPC_RECORD_MESH_H

#include "dialects/Dist/IR/MeshShape.h"
#include "record/RecordImage.h"

#include "mlir/IR/BuiltinOps.h"

namespace dpc {

/// The mesh of a program, and the group families that its collectives name.
class ProgramMesh {
public:
  /// The module's dist.mesh; one rank without axes if it has none.
  explicit ProgramMesh(mlir::ModuleOp module);

  const dist::MeshShape &getShape() const { return shape; }
  uint32_t getWorldSize() const { return shape.worldSize(); }

  /// Index of the family of groups along `axes`, first axis slowest. Family 0
  /// is the whole world.
  uint32_t getFamily(llvm::ArrayRef<std::string> axes);
  /// The same for an array of strings.
  uint32_t getFamily(mlir::ArrayAttr axes);
  uint32_t getFamilyCount() const { return families.size(); }
  /// Ranks in each group of the family.
  uint32_t getGroupSize(uint32_t family) const;

  llvm::Constant *emitAxes(llvm::Module &module, ConstantPool &pool) const;
  llvm::Constant *emitFamilies(llvm::Module &module, ConstantPool &pool) const;

private:
  struct Family {
    std::string name;
    /// Members of each group in order.
    std::vector<std::vector<uint32_t>> groups;
  };
  dist::MeshShape shape;
  std::vector<Family> families;
};

} // namespace dpc

#endif // DPC_RECORD_MESH_H

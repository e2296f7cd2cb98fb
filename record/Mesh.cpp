// Lists the ranks of each group along mesh axes, and writes the axes and the group families
// into the record.

#include "record/Mesh.h"

#include "dialects/Dist/IR/Collectives.h"
#include "dpc/types.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace dpc;

ProgramMesh::ProgramMesh(mlir::ModuleOp module) : shape(dist::getMeshShape(module)) {
  Family world = {"world", {std::vector<uint32_t>(shape.worldSize())}};
  std::iota(world.groups[0].begin(), world.groups[0].end(), 0);
  families.push_back(std::move(world));
}

uint32_t ProgramMesh::getFamily(llvm::ArrayRef<std::string> axes, llvm::ArrayRef<int64_t> members) {
  Family family;
  family.name = llvm::join(axes, "+");
  if (!members.empty())
    family.name +=
        "{" +
        llvm::join(llvm::map_range(members, [](int64_t i) { return std::to_string(i); }), ",") +
        "}";
  // The search leaves out family 0 (all ranks), whose name is "world", because a mesh
  // axis may have the same name.
  for (size_t index = 1; index < families.size(); ++index)
    if (families[index].name == family.name)
      return index;
  // Ranks with equal coordinates on all other axes form a group, so these coordinates are
  // the key. The members of a group are ordered by their coordinates on `axes`.
  std::map<std::vector<int64_t>, std::vector<std::pair<std::vector<int64_t>, uint32_t>>> groups;
  for (uint32_t rank = 0; rank < getWorldSize(); ++rank) {
    auto coordinates = shape.coordinates(rank);
    std::vector<int64_t> elsewhere, inside;
    for (const std::string &axis : axes)
      inside.push_back(coordinates[*shape.axisIndex(axis)]);
    if (!members.empty() && !llvm::is_contained(members, inside[0]))
      continue;
    for (auto [index, axis] : llvm::enumerate(shape.axes))
      if (!llvm::is_contained(axes, axis.name))
        elsewhere.push_back(coordinates[index]);
    groups[elsewhere].push_back({inside, rank});
  }
  for (auto &[key, ranks] : groups) {
    std::sort(ranks.begin(), ranks.end());
    family.groups.emplace_back();
    for (const auto &member : ranks)
      family.groups.back().push_back(member.second);
  }
  families.push_back(std::move(family));
  return families.size() - 1;
}

uint32_t ProgramMesh::getFamily(mlir::ArrayAttr axes, llvm::ArrayRef<int64_t> members) {
  std::vector<std::string> names;
  for (auto axis : axes.getAsValueRange<mlir::StringAttr>())
    names.push_back(axis.str());
  return getFamily(names, members);
}

uint32_t ProgramMesh::getGroupSize(uint32_t family) const {
  return families[family].groups[0].size();
}

llvm::Constant *ProgramMesh::emitAxes(llvm::Module &module, ConstantPool &pool) const {
  RecordImage image;
  for (const dist::MeshAxis &axis : shape.axes) {
    dpc_axis_t record = {};
    record.size = axis.size;
    record.sequential = axis.sequential;
    uint64_t at = image.append(record);
    image.setPointer(at + offsetof(dpc_axis_t, name), pool.getString(axis.name));
  }
  return image.emit(module, "axes");
}

llvm::Constant *ProgramMesh::emitFamilies(llvm::Module &module, ConstantPool &pool) const {
  RecordImage image;
  for (const Family &family : families) {
    RecordImage ranks;
    for (const std::vector<uint32_t> &group : family.groups)
      for (uint32_t rank : group)
        ranks.append(rank);
    dpc_group_family_t record = {};
    record.group_count = family.groups.size();
    record.group_size = family.groups[0].size();
    uint64_t at = image.append(record);
    image.setPointer(at + offsetof(dpc_group_family_t, name), pool.getString(family.name));
    image.setPointer(at + offsetof(dpc_group_family_t, ranks), ranks.emit(module, "members"));
  }
  return image.emit(module, "families");
}

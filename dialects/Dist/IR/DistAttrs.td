#ifndef DPC_DIALECTS_DIST_IR_DISTATTRS_TD
#define DPC_DIALECTS_DIST_IR_DISTATTRS_TD

include "dialects/Dist/IR/DistDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

def Dist_ReductionKind : I32EnumAttr<"ReductionKind", "How a collective combines values", [
  I32EnumAttrCase<"sum", 0>, I32EnumAttrCase<"max", 1>, I32EnumAttrCase<"min", 2>,
]> {
  let cppNamespace = "::dpc::dist";
}

def Dist_LayoutAttr : AttrDef<Dist_Dialect, "Layout"> {
  let mnemonic = "layout";
  let summary = "How a logical tensor lies on the mesh";
  let description = [{
    The text of a `dist::Layout` (Layout.h), in its normal form.

    ```mlir
    #dist.layout<"[(8: micro,data)], [(4: model)(8)] partial sum(data)">
    ```
  }];
  let parameters = (ins StringRefParameter<>:$text);
  let assemblyFormat = "`<` $text `>`";
  let genVerifyDecl = 1;
  let builders = [
    AttrBuilder<(ins "const ::dpc::dist::Layout &":$layout)>,
  ];
  let extraClassDeclaration = [{
    /// The layout the text describes.
    ::dpc::dist::Layout getLayout() const;
  }];
}

def Dist_MemberAttr : AttrDef<Dist_Dialect, "Member"> {
  let mnemonic = "member";
  let summary = "A tensor in flat storage";
  let description = [{
    `binding` says what the tensor is (a #nn.arg), `layout` how the logical tensor
    lies on the mesh and `type` what one device has of it. Its elements start
    `offset` elements behind the start of the storage.
  }];
  let parameters = (ins "::mlir::Attribute":$binding, "::dpc::dist::LayoutAttr":$layout,
                        "::mlir::TypeAttr":$type, "int64_t":$offset);
  let assemblyFormat = "`<` $binding `,` $type `,` $layout `at` $offset `>`";
  let extraClassDeclaration = [{
    ::mlir::RankedTensorType getTensorType() const {
      return ::llvm::cast<::mlir::RankedTensorType>(getType().getValue());
    }
  }];
}

def Dist_StorageAttr : AttrDef<Dist_Dialect, "Storage"> {
  let mnemonic = "storage";
  let summary = "Flat storage of state: tensors laid end to end";
  let description = [{
    Stands on a function's argument, and on the result that is its new value, in
    place of what each member would have. With `over`, the storage is cut evenly
    among the devices of these mesh axes, whose order numbers the parts, first
    axis slowest: the argument is a device's part. Elements in no member are
    padding.

    ```mlir
    #dist.storage<"momentum.0" [<#nn.arg<optimizer "momentum|w", of = "w">, tensor<4x3xf32>, <"[4], [3]"> at 0>] over ["data"]>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        ArrayRefParameter<"::dpc::dist::MemberAttr">:$members,
                        OptionalArrayRefParameter<"::mlir::StringAttr">:$axes);
  let assemblyFormat = "`<` $name ` ` `[` $members `]` (`over` ` ` `[` $axes^ `]`)? `>`";
}

def Dist_LinkAttr : AttrDef<Dist_Dialect, "Link"> {
  let mnemonic = "link";
  let summary = "One device's way to the others of its group (dpc::Link)";
  let parameters = (ins "int64_t":$bytesPerUs, "int64_t":$latencyNs);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_MachineAttr : AttrDef<Dist_Dialect, "Machine"> {
  let mnemonic = "machine";
  let summary = "What a program is planned for (dpc::Machine)";
  let description = [{
    Stands on the module. `target` names what runs the kernels, `processor` the
    one of its processors; a device computes `flopsPerUs` and reads and writes
    `memoryBytesPerUs` a microsecond. Devices are joined by `link`, those that
    differ along an axis that `axisLinks` names by its own.

    ```mlir
    #dist.machine<target = "cpu", processor = "native", flopsPerUs = 50000, memoryBytesPerUs = 10000,
                  link = <bytesPerUs = 5000, latencyNs = 5000>,
                  axisLinks = {data = #dist.link<bytesPerUs = 1000, latencyNs = 20000>}>
    ```
  }];
  let parameters = (ins "::mlir::StringAttr":$target, "::mlir::StringAttr":$processor,
                        "int64_t":$flopsPerUs, "int64_t":$memoryBytesPerUs,
                        "::dpc::dist::LinkAttr":$link,
                        OptionalParameter<"::mlir::DictionaryAttr">:$axisLinks);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def Dist_MicroOperandKind : I32EnumAttr<"MicroKind", "How a value crosses the edge of a microbatch loop", [
  I32EnumAttrCase<"whole", 0>,   // operand: the same at every turn
  I32EnumAttrCase<"sliced", 1>,  // operand: turn m reads slice m of its first dimension
  I32EnumAttrCase<"stacked", 2>, // result: turn m gives slice m of its first dimension
  I32EnumAttrCase<"summed", 3>,  // result: the sum over the turns
]> {
  let cppNamespace = "::dpc::dist";
  let genSpecializedAttr = 0;
}

#endif // DPC_DIALECTS_DIST_IR_DISTATTRS_TD

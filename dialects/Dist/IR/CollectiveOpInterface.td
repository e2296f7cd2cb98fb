#ifndef DPC_DIALECTS_DIST_IR_COLLECTIVEOPINTERFACE_TD
#define DPC_DIALECTS_DIST_IR_COLLECTIVEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::dpc::dist";
  let description = [{
    An op by which the devices of a group exchange data. Devices that have the same
    coordinate on every mesh axis except those in `axes` form a group.
  }];
  let methods = [
    InterfaceMethod<"The kind of the exchange, e.g. `all_reduce`.",
                    "::dpc::dist::Collective", "getCollective">,
    InterfaceMethod<"How the op reduces the values of the devices; `sum` if it only moves them.",
                    "::dpc::dist::Reduction", "getReduction", (ins), /*methodBody=*/"",
                    /*defaultImplementation=*/"return ::dpc::dist::Reduction::sum;">,
    InterfaceMethod<"The mesh whose devices form the groups.",
                    "::mlir::FlatSymbolRefAttr", "getMeshAttr">,
    InterfaceMethod<"The axes along which devices form a group.",
                    "::mlir::ArrayAttr", "getAxes">,
  ];
}

#endif // DPC_DIALECTS_DIST_IR_COLLECTIVEOPINTERFACE_TD

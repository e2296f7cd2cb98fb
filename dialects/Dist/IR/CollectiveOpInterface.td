#ifndef DPC_DIALECTS_DIST_IR_COLLECTIVEOPINTERFACE_TD
#define DPC_DIALECTS_DIST_IR_COLLECTIVEOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def CollectiveOpInterface : OpInterface<"CollectiveOpInterface"> {
  let cppNamespace = "::dpc::dist";
  let description = [{
    An op that exchanges data with the other devices of its group. Devices that agree
    on every axis outside of `axes` form a group.
  }];
  let methods = [
    InterfaceMethod<"How the group exchanges its values.",
                    "::dpc::dist::Collective", "getCollective">,
    InterfaceMethod<"How the group combines its values. `sum` if it only moves them.",
                    "::dpc::dist::Reduction", "getReduction", (ins), /*methodBody=*/"",
                    /*defaultImplementation=*/"return ::dpc::dist::Reduction::sum;">,
    InterfaceMethod<"The mesh whose devices form the groups.",
                    "::mlir::FlatSymbolRefAttr", "getMeshAttr">,
    InterfaceMethod<"The axes along which devices form a group.",
                    "::mlir::ArrayAttr", "getAxes">,
  ];
}

#endif // DPC_DIALECTS_DIST_IR_COLLECTIVEOPINTERFACE_TD

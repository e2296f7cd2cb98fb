#ifndef DPC_DIALECTS_NN_CHANNELS_CHANNELSOPINTERFACE_TD
#define DPC_DIALECTS_NN_CHANNELS_CHANNELSOPINTERFACE_TD

include "mlir/IR/OpBase.td"

def ChannelsOpInterface : OpInterface<"ChannelsOpInterface"> {
  let cppNamespace = "::dpc";
  let description = [{
    An op that can also compute its results with the channels last, from operands whose
    channels are last. `dpc-set-channels-last` uses it. Elementwise ops need not implement
    it. ChannelsModels.cpp attaches the interface to ops (external models).
  }];
  let methods = [
    InterfaceMethod<[{
      Finds the dimension of channels of each operand and result, if `dimension` is the
      one of the operand with the number `operand`, or of the result with the number
      `result`; the other number is not set. Returns nullopt if the op cannot move them.
    }], "std::optional<::dpc::ChannelDims>", "findChannels",
      (ins "std::optional<unsigned>":$operand, "std::optional<unsigned>":$result,
           "int64_t":$dimension)>,
    InterfaceMethod<[{
      Builds ops that compute the results of the op. Each value that has channels in
      `dims` has its channels last: the operands, which `operands` has in this order, and
      the returned results. The other values are as they were.
    }], "::llvm::SmallVector<::mlir::Value>", "moveChannels",
      (ins "::mlir::OpBuilder &":$builder, "const ::dpc::ChannelDims &":$dims,
           "::mlir::ValueRange":$operands)>,
  ];
}

#endif // DPC_DIALECTS_NN_CHANNELS_CHANNELSOPINTERFACE_TD

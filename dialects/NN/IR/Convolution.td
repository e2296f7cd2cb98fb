#ifndef DPC_DIALECTS_NN_IR_CONVOLUTION_TD
#define DPC_DIALECTS_NN_IR_CONVOLUTION_TD

include "dialects/NN/IR/NNBase.td"

/// Base of the three ops of a convolution y = conv(x, w). nn.conv computes y from x
/// and w. The other two compute the gradient of x or of w, from the gradient of y
/// and the other operand.
class NN_ConvolutionOp<string mnemonic, string first, string second, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Computes,
        PrecisionOpInterface], traits)> {
  // The part of the description that all three ops share.
  string constraints = [{
    x has the dimensions [batch, input channels, spatial..], w has [output channels,
    input channels of a group, spatial..], and y has [batch, output channels,
    spatial..]. With `channelsLast`, dimension 1 of each is after the spatial
    dimensions: [batch, spatial.., channels]. `dpc-set-channels-last` chooses this
    order for libraries that read it fast. The channels of one group are consecutive.

    Constraints (conv_c1 to conv_c7, the same for the three ops): (C1) x, w and y
    have one rank from 3 to 5; (C2) the operands have one element type, and the
    result has it too or a wider float type; (C3) with g `groups`,
    g >= 1, x has g times the input channels of w, and g divides the output
    channels; (C4) `strides`, `padLow`, `padHigh` and `dilations` have one entry
    per spatial dimension; (C5) strides, dilations and kernel extents are at least
    1, and no extent or entry exceeds 2^31 - 1 in size; (C6) the dilated kernel
    fits the padded extent, in + padLow + padHigh >= (k - 1) dilation + 1; (C7) y
    has the batch of x, the output channels of w and spatial extents
    floor((in + padLow + padHigh - (k - 1) dilation - 1) / stride) + 1.
  }];
  let arguments = !con(!dag(ins, [NN_FloatTensor, NN_FloatTensor], [first, second]),
                       (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padLow,
                            DenseI64ArrayAttr:$padHigh, DenseI64ArrayAttr:$dilations,
                            I64Attr:$groups, UnitAttr:$channelsLast));
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$" # first # " `,` $" # second # [{
    `strides` $strides `padLow` $padLow `padHigh` $padHigh `dilations` $dilations
    `groups` $groups (`channelsLast` $channelsLast^)? attr-dict `:` type($}] # first # ") `,` type($" # second # ") `->` type($result)";
  string convolutionDeclaration = [{
    /// The types of x, w and y in the order [batch, channels, spatial..], their order in
    /// memory, and the geometry of the convolution.
    ::dpc::nn::Convolution getConvolution();
    ::dpc::Precision getPrecision() { return ::dpc::Precision::narrow; }
    bool sumsToWider() { return true; }
  }];
  let extraClassDeclaration = convolutionDeclaration;
}

def NN_ConvOp : NN_ConvolutionOp<"conv", "input", "kernel", [
    DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Convolution over one to three spatial dimensions";
  let description = [{
    Each output element o is a sum over the input channels of its group and over the
    elements k of the kernel. Each term is the kernel element times the input
    element at o * stride + k * dilation - padLow. Input elements in the padding are
    zero. The kernel is not reversed (cross-correlation). Negative padding crops
    elements.

    Frontends create the op, and so does the VJP of `nn.conv_input_grad`. It becomes
    one kernel.

    ```mlir
    func.func @example(%x: tensor<8x3x32x32xf32>, %w: tensor<16x3x3x3xf32>) {
      %y = nn.conv %x, %w strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1
          : tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32> -> tensor<8x16x16x16xf32>
      return
    }
    ```
  }] # constraints;
  let extraClassDeclaration = convolutionDeclaration # [{
    /// Overrides InferTypeOpInterface, because the result may have a wider type
    /// than type inference gives.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

def NN_ConvInputGradOp : NN_ConvolutionOp<"conv_input_grad", "grad", "kernel"> {
  let summary = "Gradient of a convolution's input; a transposed convolution";
  let description = [{
    With a fixed kernel, a convolution is a linear map from x to y. This op applies
    the transposed map: it computes the gradient of x from the gradient of y. It is
    also the transposed convolution of ONNX. The result type gives the extents of
    x. The extents of y do not determine them, because up to stride - 1 of the last
    elements of x contribute to no output.

    The VJP of `nn.conv` creates the op, and frontends create it for ConvTranspose.

    ```mlir
    func.func @example(%g: tensor<8x16x16x16xf32>, %w: tensor<16x3x3x3xf32>) {
      %dx = nn.conv_input_grad %g, %w strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1
          : tensor<8x16x16x16xf32>, tensor<16x3x3x3xf32> -> tensor<8x3x32x32xf32>
      return
    }
    ```
  }] # constraints;
  let hasVerifier = 1;
}

def NN_ConvWeightGradOp : NN_ConvolutionOp<"conv_weight_grad", "input", "grad"> {
  let summary = "Gradient of a convolution's kernel";
  let description = [{
    The gradient of a kernel element is a sum over the batch and over the outputs.
    Each term is the gradient of the output times the input element that the
    convolution multiplies by the kernel element for this output.

    The VJPs of `nn.conv` and `nn.conv_input_grad` create the op.

    ```mlir
    func.func @example(%x: tensor<8x3x32x32xf32>, %g: tensor<8x16x16x16xf32>) {
      %dw = nn.conv_weight_grad %x, %g strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1
          : tensor<8x3x32x32xf32>, tensor<8x16x16x16xf32> -> tensor<16x3x3x3xf32>
      return
    }
    ```
  }] # constraints;
  let hasVerifier = 1;
}

#endif // DPC_DIALECTS_NN_IR_CONVOLUTION_TD

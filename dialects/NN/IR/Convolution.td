#ifndef DPC_DIALECTS_NN_IR_CONVOLUTION_TD
#define DPC_DIALECTS_NN_IR_CONVOLUTION_TD

include "dialects/NN/IR/NNBase.td"

/// One of the three ops of a convolution y = conv(x, w). Each computes one of the
/// three tensors, or its gradient, from the other two.
class NN_ConvolutionOp<string mnemonic, string first, string second, list<Trait> traits = []>
    : NN_Op<mnemonic, !listconcat([
        Pure, NN_Interpretable, NN_Shardable, NN_Differentiable, NN_Computes,
        PrecisionOpInterface], traits)> {
  // The description that all three share.
  string constraints = [{
    Layouts: x is batch, input channels, spatial; w is output channels, input
    channels of a group, spatial; y is batch, output channels, spatial. Input
    channels lie group by group, output channels too.

    Constraints (conv_c1 to conv_c7, the same for the three ops): (C1) x, w and y
    have one rank from 3 to 5; (C2) the operands have one element type, and the
    result has it too or a wider float type; (C3) with g `groups`,
    g >= 1, x has g times the input channels of w, and g divides the output
    channels; (C4) `strides`, `padLow`, `padHigh` and `dilations` have one entry
    a spatial dimension; (C5) strides, dilations and kernel extents are at least
    1, and no extent or entry exceeds 2^31 - 1 in size; (C6) the dilated kernel
    fits the padded extent, in + padLow + padHigh >= (k - 1) dilation + 1; (C7) y
    has the batch of x, the output channels of w and spatial extents
    floor((in + padLow + padHigh - (k - 1) dilation - 1) / stride) + 1.
  }];
  let arguments = !con(!dag(ins, [NN_FloatTensor, NN_FloatTensor], [first, second]),
                       (ins DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padLow,
                            DenseI64ArrayAttr:$padHigh, DenseI64ArrayAttr:$dilations,
                            I64Attr:$groups));
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$" # first # " `,` $" # second # [{
    `strides` $strides `padLow` $padLow `padHigh` $padHigh `dilations` $dilations
    `groups` $groups attr-dict `:` type($}] # first # ") `,` type($" # second # ") `->` type($result)";
  string convolutionDeclaration = [{
    /// The types and geometry of the convolution, for any of the three ops.
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
    Each output is the sum, over the input channels of its group and the elements of
    the kernel, of the kernel element times the input element at o * stride + k *
    dilation - padLow, which is zero in the padding. The kernel is not reversed
    (cross-correlation). Negative padding crops elements.

    Made by the frontends; becomes one kernel.

    ```mlir
    func.func @example(%x: tensor<8x3x32x32xf32>, %w: tensor<16x3x3x3xf32>) {
      %y = nn.conv %x, %w strides [2, 2] padLow [1, 1] padHigh [1, 1] dilations [1, 1] groups 1
          : tensor<8x3x32x32xf32>, tensor<16x3x3x3xf32> -> tensor<8x16x16x16xf32>
      return
    }
    ```
  }] # constraints;
  let extraClassDeclaration = convolutionDeclaration # [{
    /// Overrides InferTypeOpInterface: the result may have a wider type than
    /// inferred.
    static bool isCompatibleReturnTypes(::mlir::TypeRange inferred, ::mlir::TypeRange results);
  }];
}

def NN_ConvInputGradOp : NN_ConvolutionOp<"conv_input_grad", "grad", "kernel"> {
  let summary = "Gradient of a convolution's input; a transposed convolution";
  let description = [{
    The transpose, as a linear map, of the convolution with this kernel and
    geometry: from y (the gradient, or the input of a transposed convolution) to a
    tensor of x's type. The type of x is needed because the extents of y do not
    determine it: up to stride - 1 of the last elements of x contribute to no
    output.

    Made by the VJP of `nn.conv` and, for ConvTranspose, by the frontends.

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
    Each kernel element is the sum, over the batch and the outputs, of the gradient
    times the input element that the convolution multiplies with that kernel
    element.

    Made by the VJP of `nn.conv`.

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

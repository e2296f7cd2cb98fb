#ifndef DPC_PASSES_MACHINE_KERNELOPTIONS_TD
#define DPC_PASSES_MACHINE_KERNELOPTIONS_TD

include "mlir/Pass/PassBase.td"

// How a target generates kernels (codeOptionsOf). All passes of one program must use the same options.
defvar kernelOptions = [
  Option<"recompute", "recompute", "bool", "true",
         "Short computations are repeated by each reader; false: kept in memory">,
  Option<"orderedSums", "ordered-sums", "bool", "false",
         "Every sum adds its terms in their order">,
  Option<"factors", "factors", "::dpc::FactorForm", "::dpc::FactorForm::whole",
         "How products and convolutions of f32 multiply their factors",
         [{::llvm::cl::values(
             clEnumValN(::dpc::FactorForm::whole, "f32", "As they are"),
             clEnumValN(::dpc::FactorForm::rounded, "tf32", "Rounded to tf32"),
             clEnumValN(::dpc::FactorForm::split, "tf32x3",
                        "As sums of two numbers of tf32, by three products"))}]>,
  Option<"products", "products", "::dpc::ProductMaker", "::dpc::ProductMaker::bySize",
         "Who multiplies matrices and convolves on a device that may have a library for it",
         [{::llvm::cl::values(
             clEnumValN(::dpc::ProductMaker::bySize, "auto", "The library, where they are large"),
             clEnumValN(::dpc::ProductMaker::generated, "generated", "The kernels themselves"),
             clEnumValN(::dpc::ProductMaker::library, "library",
                        "The library, wherever it can"))}]>,
];

#endif // DPC_PASSES_MACHINE_KERNELOPTIONS_TD

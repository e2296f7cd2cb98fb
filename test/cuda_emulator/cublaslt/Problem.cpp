// What cuBLASLt takes: NVIDIA, "cuBLAS", cublasLtMatmul() and the comments of
// cublasLt.h.
#include "test/cuda_emulator/cublaslt/Problem.h"

using namespace dpc::cuda;
using namespace dpc::emulator;

unsigned dpc::emulator::bytesOf(DataType type) {
  switch (type) {
  case DataType::f64:
    return 8;
  case DataType::f32:
    return 4;
  default:
    return 2;
  }
}

static std::string layoutProblem(const char *name, const LayoutState &layout) {
  const uint64_t least = layout.order == MatrixOrder::column ? layout.rows : layout.columns;
  if (layout.leadingDimension < static_cast<int64_t>(least))
    return std::string(name) + " has the leading dimension " +
           std::to_string(layout.leadingDimension) + ", less than " + std::to_string(least);
  if (layout.batches > 1 && layout.batchOffset < 0)
    return std::string(name) + " has a negative distance between matrices";
  return "";
}

/// Which types go together: the table of cublasLtMatmul(), as far as dpc needs it.
static bool areTypesKnown(const Problem &p) {
  const DataType a = p.a.type, b = p.b.type, c = p.c.type, d = p.d.type,
                 scale = p.description.scale;
  if (c != d || a != b)
    return false;
  switch (p.description.compute) {
  case ComputeType::f64:
    return a == DataType::f64 && d == DataType::f64 && scale == DataType::f64;
  case ComputeType::f32FastTf32:
    return a == DataType::f32 && d == DataType::f32 && scale == DataType::f32;
  case ComputeType::f32:
    return scale == DataType::f32 && a != DataType::f64 && (d == a || d == DataType::f32);
  default:
    return false;
  }
}

static std::string epilogueProblem(const Problem &p) {
  const DescriptionState &description = p.description;
  switch (description.epilogue) {
  case Epilogue::none:
    return "";
  case Epilogue::relu:
  case Epilogue::bias:
  case Epilogue::reluBias:
  case Epilogue::gelu:
  case Epilogue::geluBias:
  case Epilogue::reluAux:
  case Epilogue::reluAuxBias:
  case Epilogue::geluAux:
  case Epilogue::geluAuxBias:
  case Epilogue::reluGradient:
  case Epilogue::reluGradientBiasGradient:
  case Epilogue::geluGradient:
  case Epilogue::geluGradientBiasGradient:
  case Epilogue::biasGradientA:
  case Epilogue::biasGradientB:
    break;
  default:
    return "the epilogue " + std::to_string(static_cast<int>(description.epilogue)) +
           " is not known";
  }
  if (p.d.type == DataType::f64)
    return "f64 has no epilogue but the default one";
  if (p.d.order != MatrixOrder::column)
    return "an epilogue is known of column-major results alone";
  const bool usesBias = static_cast<int>(description.epilogue) & (4 | 16 | 256 | 512);
  const bool usesAux = static_cast<int>(description.epilogue) & 128;
  if (usesBias && !description.bias)
    return "the epilogue needs the address of a bias";
  if (!usesAux)
    return "";
  const int64_t divisor = description.hasMask() ? 128 : 8;
  if (!description.aux)
    return "the epilogue needs the address of its auxiliary matrix";
  if (description.auxLeadingDimension % divisor || description.auxLeadingDimension < p.m())
    return "the leading dimension " + std::to_string(description.auxLeadingDimension) +
           " of the auxiliary matrix is no multiple of " + std::to_string(divisor) +
           ", or less than " + std::to_string(p.m());
  if (p.d.batches > 1 && description.auxBatchStride % divisor)
    return "the batch stride of the auxiliary matrix is no multiple of " + std::to_string(divisor);
  if (reinterpret_cast<uint64_t>(description.aux) % 16)
    return "the auxiliary matrix is not aligned to 16 bytes";
  return "";
}

std::string dpc::emulator::problemWith(const Problem &p, BlasStatus &status) {
  status = BlasStatus::invalidValue;
  for (auto [name, layout] :
       {std::pair("A", &p.a), std::pair("B", &p.b), std::pair("C", &p.c), std::pair("D", &p.d)}) {
    std::string problem = layoutProblem(name, *layout);
    if (!problem.empty())
      return problem;
    if (layout->batches != p.d.batches)
      return std::string(name) + " has " + std::to_string(layout->batches) +
             " matrices and D has " + std::to_string(p.d.batches);
  }
  const DescriptionState &description = p.description;
  const uint64_t m = description.transposeA ? p.a.columns : p.a.rows,
                 k = description.transposeA ? p.a.rows : p.a.columns,
                 kOfB = description.transposeB ? p.b.columns : p.b.rows,
                 n = description.transposeB ? p.b.rows : p.b.columns;
  if (m != p.d.rows || n != p.d.columns || k != kOfB || p.c.rows != p.d.rows ||
      p.c.columns != p.d.columns)
    return "the extents of A, B, C and D do not agree";
  if (p.c.order != p.d.order)
    return "C and D have different orders";
  status = BlasStatus::notSupported;
  if (!areTypesKnown(p))
    return "these types of A, B, C, D and the sum do not go together";
  return epilogueProblem(p);
}

// Computes products of matrices by cuBLASLt. Reference: NVIDIA, "cuBLAS", part
// "Using the cuBLASLt API".

#include "runtime/src/device/LibraryProducts.h"

#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstring>
#include <string>

namespace dpc {

namespace {

/// The alignment in bytes that the library requires of the workspace.
constexpr uint64_t kWorkspaceAlignment = 256;
/// The library does not distinguish alignments above this number of bytes.
constexpr uint64_t kMostAlignment = 256;

cuda::DataType dataType(uint32_t dtype) {
  return dtype == DPC_F64    ? cuda::DataType::f64
         : dtype == DPC_F16  ? cuda::DataType::f16
         : dtype == DPC_BF16 ? cuda::DataType::bf16
                             : cuda::DataType::f32;
}

cuda::ComputeType computeType(const dpc_product_t &product) {
  return product.dtype == DPC_F64 ? cuda::ComputeType::f64
         : product.tf32           ? cuda::ComputeType::f32FastTf32
                                  : cuda::ComputeType::f32;
}

bool areEqual(const LibraryProducts::Wanted &one, const LibraryProducts::Wanted &other) {
  static_assert(sizeof(LibraryProducts::Wanted) ==
                    sizeof(dpc_product_t) + sizeof(one.alignments) + sizeof(uint64_t),
                "nothing lies between the members");
  return std::memcmp(&one, &other, sizeof one) == 0;
}

} // namespace

LibraryProducts::~LibraryProducts() {
  for (const Prepared &product : products) {
    if (product.description)
      library.cublasLtMatmulDescDestroy(product.description);
    for (cuda::MatrixLayout layout : {product.a, product.b, product.d})
      if (layout)
        library.cublasLtMatrixLayoutDestroy(layout);
  }
  if (handle)
    library.cublasLtDestroy(handle);
}

dpc_status_t LibraryProducts::check(cuda::BlasStatus status, const char *what) const {
  if (status == cuda::BlasStatus::success)
    return DPC_OK;
  return fail(DPC_INVALID, "cuBLASLt: %s: %s", what, library.cublasLtGetStatusString(status));
}

dpc_status_t LibraryProducts::open() {
  if (dpc_status_t status = cuda::openCublasLt(library, /*isOlder=*/false))
    return status;
  const dpc_status_t status = check(library.cublasLtCreate(&handle), "opening the library");
  if (status == DPC_OK)
    return DPC_OK;
  // The newest library may be too new for the driver. Then try an older version,
  // which may be installed as well.
  const std::string reason = dpc_last_error();
  if (cuda::openCublasLt(library, /*isOlder=*/true) == DPC_OK &&
      library.cublasLtCreate(&handle) == cuda::BlasStatus::success)
    return DPC_OK;
  handle = nullptr;
  return fail(status, "%s", reason.c_str());
}

uint32_t LibraryProducts::add(const Wanted &wanted) {
  for (uint32_t number = 0; number < products.size(); ++number)
    if (areEqual(products[number].wanted, wanted))
      return number;
  products.emplace_back().wanted = wanted;
  return static_cast<uint32_t>(products.size() - 1);
}

//===----------------------------------------------------------------------===//
// Descriptions for the library
//===----------------------------------------------------------------------===//

/// Describes a row-major matrix of `rows` rows and `columns` columns to the library.
/// For the library, which is column-major, rows and columns are exchanged. If
/// `matrix` is transposed in memory, they are exchanged a second time.
dpc_status_t LibraryProducts::layOut(const Wanted &wanted, const dpc_matrix_t &matrix,
                                     uint64_t rows, uint64_t columns, cuda::MatrixLayout *out) {
  const dpc_product_t &product = wanted.product;
  if (dpc_status_t status =
          check(library.cublasLtMatrixLayoutCreate(
                    out, dataType(product.dtype), matrix.transposed ? rows : columns,
                    matrix.transposed ? columns : rows, static_cast<int64_t>(matrix.stride)),
                "describing a matrix"))
    return status;
  const auto batches = static_cast<int32_t>(product.batches);
  const auto batchOffset = static_cast<int64_t>(matrix.batch_stride);
  if (dpc_status_t status =
          check(library.cublasLtMatrixLayoutSetAttribute(*out, cuda::LayoutAttribute::batchCount,
                                                         &batches, sizeof batches),
                "describing a matrix"))
    return status;
  return check(library.cublasLtMatrixLayoutSetAttribute(*out, cuda::LayoutAttribute::batchOffset,
                                                        &batchOffset, sizeof batchOffset),
               "describing a matrix");
}

dpc_status_t LibraryProducts::describe(Prepared &prepared) {
  if (prepared.description)
    return DPC_OK;
  const dpc_product_t &product = prepared.wanted.product;
  const cuda::DataType scale = product.dtype == DPC_F64 ? cuda::DataType::f64 : cuda::DataType::f32;
  if (dpc_status_t status = check(
          library.cublasLtMatmulDescCreate(&prepared.description, computeType(product), scale),
          "describing a product"))
    return status;
  auto set = [&](cuda::MatmulAttribute attribute, auto value) {
    return check(library.cublasLtMatmulDescSetAttribute(prepared.description, attribute, &value,
                                                        sizeof value),
                 "describing a product");
  };
  // The library's first factor is the second factor of `product`.
  if (dpc_status_t status =
          set(cuda::MatmulAttribute::transposeA, static_cast<int32_t>(product.b.transposed)))
    return status;
  if (dpc_status_t status =
          set(cuda::MatmulAttribute::transposeB, static_cast<int32_t>(product.a.transposed)))
    return status;
  if (product.epilogue == DPC_EPILOGUE_BIAS) {
    if (dpc_status_t status = set(cuda::MatmulAttribute::epilogue, cuda::Epilogue::bias))
      return status;
    // run() sets the address of the bias. Until then, the attribute is a number
    // with the same alignment, because the choice of algorithms depends on it.
    if (dpc_status_t status =
            set(cuda::MatmulAttribute::biasPointer, prepared.wanted.alignments[kAddend]))
      return status;
  }
  if (dpc_status_t status =
          layOut(prepared.wanted, product.b, product.depth, product.columns, &prepared.a))
    return status;
  if (dpc_status_t status =
          layOut(prepared.wanted, product.a, product.rows, product.depth, &prepared.b))
    return status;
  return layOut(prepared.wanted, product.d, product.rows, product.columns, &prepared.d);
}

//===----------------------------------------------------------------------===//
// Choice of the algorithm
//===----------------------------------------------------------------------===//

dpc_status_t LibraryProducts::findChoices(Prepared &prepared, cuda::MatmulPreference preference,
                                          size_t most, std::vector<Choice> *out) {
  const Wanted &wanted = prepared.wanted;
  const bool addsMatrix = wanted.product.epilogue == DPC_EPILOGUE_ADD;
  const uint64_t of[4] = {wanted.alignments[1], wanted.alignments[0],
                          wanted.alignments[addsMatrix ? kAddend : 2], wanted.alignments[2]};
  auto prefer = [&](cuda::PreferenceAttribute attribute, auto value) {
    return check(
        library.cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
        "choosing how to make a product");
  };
  // run() aligns the workspace. For this it skips up to `lost` bytes at the
  // beginning of the workspace.
  const uint64_t lost = kWorkspaceAlignment - 1;
  if (dpc_status_t status =
          prefer(cuda::PreferenceAttribute::maxWorkspaceBytes,
                 wanted.workspaceBytes > lost ? wanted.workspaceBytes - lost : uint64_t(0)))
    return status;
  const cuda::PreferenceAttribute alignments[4] = {
      cuda::PreferenceAttribute::minAlignmentA, cuda::PreferenceAttribute::minAlignmentB,
      cuda::PreferenceAttribute::minAlignmentC, cuda::PreferenceAttribute::minAlignmentD};
  for (int i = 0; i < 4; ++i)
    if (dpc_status_t status =
            prefer(alignments[i], static_cast<uint32_t>(std::min(of[i], kMostAlignment))))
      return status;
  std::vector<cuda::MatmulHeuristic> found(most);
  int count = 0;
  const cuda::BlasStatus asked = library.cublasLtMatmulAlgoGetHeuristic(
      handle, prepared.description, prepared.a, prepared.b, prepared.d, prepared.d, preference,
      static_cast<int>(most), found.data(), &count);
  // A failure means that the library does not support the product. Then a kernel
  // of the program computes it, so the failure is not reported.
  if (asked != cuda::BlasStatus::success)
    return DPC_OK;
  for (int i = 0; i < count; ++i)
    if (found[i].status == cuda::BlasStatus::success)
      out->push_back({found[i].algorithm, 1, 0});
  return DPC_OK;
}

dpc_status_t LibraryProducts::findChoices(uint32_t number, size_t most, std::vector<Choice> *out) {
  out->clear();
  Prepared &prepared = products[number];
  if (dpc_status_t status = describe(prepared))
    return status;
  cuda::MatmulPreference preference = nullptr;
  if (dpc_status_t status = check(library.cublasLtMatmulPreferenceCreate(&preference),
                                  "choosing how to make products"))
    return status;
  const dpc_status_t status = findChoices(prepared, preference, most, out);
  library.cublasLtMatmulPreferenceDestroy(preference);
  return status;
}

dpc_status_t LibraryProducts::choose() {
  std::vector<Choice> found;
  for (uint32_t number = 0; number < products.size(); ++number) {
    if (dpc_status_t status = findChoices(number, 1, &found))
      return status;
    products[number].choice = found.empty() ? Choice() : found[0];
  }
  return DPC_OK;
}

std::vector<LibraryProducts::Choice> LibraryProducts::getChoices() const {
  std::vector<Choice> choices;
  for (const Prepared &prepared : products)
    choices.push_back(prepared.choice);
  return choices;
}

dpc_status_t LibraryProducts::take(uint32_t number, const Choice &choice) {
  Prepared &prepared = products[number];
  if (dpc_status_t status = describe(prepared))
    return status;
  cuda::MatmulHeuristic found = {};
  if (choice.isMade)
    if (dpc_status_t status = check(
            library.cublasLtMatmulAlgoCheck(handle, prepared.description, prepared.a, prepared.b,
                                            prepared.d, prepared.d, &choice.algorithm, &found),
            "this device does not make a product as that of rank 0"))
      return status;
  prepared.choice = choice;
  return DPC_OK;
}

dpc_status_t LibraryProducts::adopt(const Choice *choices) {
  for (uint32_t number = 0; number < products.size(); ++number)
    if (dpc_status_t status = take(number, choices[number]))
      return status;
  return DPC_OK;
}

dpc_status_t LibraryProducts::run(uint32_t number, const cuda::DevicePointer *buffers,
                                  cuda::Stream stream) {
  const Prepared &prepared = products[number];
  const dpc_product_t &product = prepared.wanted.product;
  auto pointer = [&](uint32_t buffer) { return reinterpret_cast<void *>(buffers[buffer]); };
  if (product.epilogue == DPC_EPILOGUE_BIAS) {
    void *bias = pointer(kAddend);
    if (dpc_status_t status =
            check(library.cublasLtMatmulDescSetAttribute(
                      prepared.description, cuda::MatmulAttribute::biasPointer, &bias, sizeof bias),
                  "a product's bias"))
      return status;
  }
  const double one = 1, zero = 0;
  const float oneF32 = 1, zeroF32 = 0;
  const bool addsMatrix = product.epilogue == DPC_EPILOGUE_ADD, isF64 = product.dtype == DPC_F64;
  auto scalar = [&](bool isOne) {
    return isF64 ? static_cast<const void *>(isOne ? &one : &zero) : (isOne ? &oneF32 : &zeroF32);
  };
  const cuda::DevicePointer begin = buffers[kWorkspace],
                            aligned = (begin + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                      kWorkspaceAlignment;
  const uint64_t bytes = prepared.wanted.workspaceBytes, lost = aligned - begin;
  return check(library.cublasLtMatmul(
                   handle, prepared.description, scalar(true), pointer(1), prepared.a, pointer(0),
                   prepared.b, scalar(addsMatrix), pointer(addsMatrix ? kAddend : 2), prepared.d,
                   pointer(2), prepared.d, &prepared.choice.algorithm,
                   reinterpret_cast<void *>(aligned), bytes > lost ? bytes - lost : 0, stream),
               "a product");
}

} // namespace dpc

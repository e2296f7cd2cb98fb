// Computes products of matrices, a kind of library call, by cuBLASLt. Reference:
// NVIDIA, "cuBLAS", part "Using the cuBLASLt API". The library's matrices are
// column-major. A row-major matrix in memory is the transpose of a column-major one,
// so the row-major product D = A B is passed to the library as D' = B' A'.

#include "dpc/product.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/cuda/Libraries.h"
#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"

#include <algorithm>
#include <cstring>
#include <sstream>
#include <string>

namespace dpc {

namespace {

using Number = unsigned long long;

/// The alignment in bytes that the library requires of the workspace.
constexpr uint64_t kWorkspaceAlignment = 256;
/// The library does not distinguish alignments above this number of bytes.
constexpr uint64_t kMostAlignment = 256;

/// A product, with the properties of its buffers on which the library's choice of an
/// algorithm depends. The bytes of this struct are the key of the product in files of
/// measured calls. Therefore the members must not change: files of earlier versions
/// would become unreadable.
struct WantedProduct {
  dpc_product_t product = {};
  /// A power of two that divides the address of each buffer; 0 for the
  /// workspace and for absent buffers.
  uint64_t alignments[DPC_PRODUCT_MOST_BUFFERS] = {};
  uint64_t workspaceBytes = 0;
};
static_assert(sizeof(WantedProduct) == sizeof(dpc_product_t) +
                                           DPC_PRODUCT_MOST_BUFFERS * sizeof(uint64_t) +
                                           sizeof(uint64_t),
              "nothing lies between the members");

/// The products of matrices that cuBLASLt computes on a device.
class LibraryProducts : public LibraryCalls {
public:
  ~LibraryProducts() override;

  dpc_status_t open() override;
  uint64_t getVersion() const override { return library.cublasLtGetVersion(); }
  uint32_t add(const WantedCall &wanted) override;
  size_t size() const override { return products.size(); }
  dpc_status_t findChoices(uint32_t number, size_t most, std::vector<CallChoice> *out) override;
  dpc_status_t run(uint32_t number, const cuda::DevicePointer *buffers,
                   cuda::Stream stream) override;
  std::string getKey(uint32_t number) const override;
  std::string describe(uint32_t number) const override;

protected:
  dpc_status_t prepare(uint32_t number, const CallChoice &choice) override;

private:
  /// The library's descriptors of a product. The matrices have the names that the
  /// library gives them: `a` describes the factor b of dpc_product_t, and `b` describes
  /// its factor a.
  struct Prepared {
    WantedProduct wanted;
    cuda::MatmulDescription description = nullptr;
    cuda::MatrixLayout a = nullptr, b = nullptr, d = nullptr;
  };

  dpc_status_t check(cuda::BlasStatus status, const char *what) const;
  /// Creates the descriptors of a product, unless they exist.
  dpc_status_t describe(Prepared &product);
  dpc_status_t layOut(const WantedProduct &wanted, uint32_t buffer, cuda::MatrixLayout *out);
  dpc_status_t findChoices(Prepared &product, cuda::MatmulPreference preference, size_t most,
                           std::vector<CallChoice> *out);

  cuda::CublasLt library;
  cuda::BlasHandle handle = nullptr;
  std::vector<Prepared> products;
};

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

bool isProductAlgorithm(const std::string &algorithm) {
  return algorithm.size() == sizeof(cuda::MatmulAlgorithm);
}

/// Converts an algorithm to the struct that the library expects.
cuda::MatmulAlgorithm algorithmOf(const CallChoice &choice) {
  cuda::MatmulAlgorithm algorithm;
  std::memcpy(&algorithm, choice.algorithm.data(), sizeof algorithm);
  return algorithm;
}

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

uint32_t LibraryProducts::add(const WantedCall &call) {
  WantedProduct wanted;
  std::memcpy(&wanted.product, call.description, sizeof wanted.product);
  for (size_t i = 0; i < call.buffers.size(); ++i)
    wanted.alignments[i] = i == DPC_PRODUCT_WORKSPACE ? 0 : call.buffers[i].alignment;
  wanted.workspaceBytes = call.buffers[DPC_PRODUCT_WORKSPACE].bytes;
  for (uint32_t number = 0; number < products.size(); ++number)
    if (std::memcmp(&products[number].wanted, &wanted, sizeof wanted) == 0)
      return number;
  products.emplace_back().wanted = wanted;
  return static_cast<uint32_t>(products.size() - 1);
}

/// Files of earlier versions have 0 instead of the result's type, because results had the type of
/// the factors. The key still has 0 for such products.
std::string LibraryProducts::getKey(uint32_t number) const {
  WantedProduct wanted = products[number].wanted;
  if (wanted.product.result_dtype == wanted.product.dtype)
    wanted.product.result_dtype = 0;
  return toHex(&wanted, sizeof wanted);
}

std::string LibraryProducts::describe(uint32_t number) const {
  const dpc_product_t &product = products[number].wanted.product;
  const char *type = product.tf32 ? "tf32" : dpc_dtype_name(product.dtype);
  std::ostringstream text;
  if (product.batches > 1)
    text << product.batches << " x ";
  text << product.rows << "x" << product.depth << (product.a.transposed ? "t" : "") << " "
       << product.depth << "x" << product.columns << (product.b.transposed ? "t" : "") << " "
       << type;
  if (product.result_dtype != product.dtype)
    text << " to " << dpc_dtype_name(product.result_dtype);
  return text.str();
}

//===----------------------------------------------------------------------===//
// Descriptions for the library
//===----------------------------------------------------------------------===//

/// Describes the row-major matrix in buffer `buffer` of a product (DPC_PRODUCT_*) to the
/// library. For the library, which is column-major, rows and columns are exchanged. If the
/// matrix is transposed in memory, they are exchanged a second time.
dpc_status_t LibraryProducts::layOut(const WantedProduct &wanted, uint32_t buffer,
                                     cuda::MatrixLayout *out) {
  const dpc_product_t &product = wanted.product;
  const dpc_product_part_t part = dpc_product_part(&product, buffer);
  const dpc_matrix_t &matrix = part.matrix;
  const cuda::DataType type =
      dataType(buffer == DPC_PRODUCT_D ? product.result_dtype : product.dtype);
  if (dpc_status_t status = check(library.cublasLtMatrixLayoutCreate(
                                      out, type, matrix.transposed ? part.rows : part.columns,
                                      matrix.transposed ? part.columns : part.rows,
                                      static_cast<int64_t>(matrix.stride)),
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
    // run() sets the address of the bias. Until then, the attribute holds a made-up
    // address that has its alignment, on which the choice of algorithms depends.
    if (dpc_status_t status =
            set(cuda::MatmulAttribute::biasPointer, prepared.wanted.alignments[DPC_PRODUCT_ADDEND]))
      return status;
  }
  if (dpc_status_t status = layOut(prepared.wanted, DPC_PRODUCT_B, &prepared.a))
    return status;
  if (dpc_status_t status = layOut(prepared.wanted, DPC_PRODUCT_A, &prepared.b))
    return status;
  return layOut(prepared.wanted, DPC_PRODUCT_D, &prepared.d);
}

//===----------------------------------------------------------------------===//
// Choice of the algorithm
//===----------------------------------------------------------------------===//

dpc_status_t LibraryProducts::findChoices(Prepared &prepared, cuda::MatmulPreference preference,
                                          size_t most, std::vector<CallChoice> *out) {
  const WantedProduct &wanted = prepared.wanted;
  const bool addsMatrix = wanted.product.epilogue == DPC_EPILOGUE_ADD;
  const uint64_t of[4] = {wanted.alignments[1], wanted.alignments[0],
                          wanted.alignments[addsMatrix ? DPC_PRODUCT_ADDEND : 2],
                          wanted.alignments[2]};
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
    if (found[i].status == cuda::BlasStatus::success) {
      const cuda::MatmulAlgorithm &algorithm = found[i].algorithm;
      out->emplace_back().algorithm.assign(reinterpret_cast<const char *>(&algorithm),
                                           sizeof algorithm);
    }
  return DPC_OK;
}

dpc_status_t LibraryProducts::findChoices(uint32_t number, size_t most,
                                          std::vector<CallChoice> *out) {
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

dpc_status_t LibraryProducts::prepare(uint32_t number, const CallChoice &choice) {
  Prepared &prepared = products[number];
  if (dpc_status_t status = describe(prepared))
    return status;
  const cuda::MatmulAlgorithm algorithm = algorithmOf(choice);
  cuda::MatmulHeuristic found = {};
  return check(library.cublasLtMatmulAlgoCheck(handle, prepared.description, prepared.a, prepared.b,
                                               prepared.d, prepared.d, &algorithm, &found),
               "this device does not make a product as the rank that chose its algorithm");
}

dpc_status_t LibraryProducts::run(uint32_t number, const cuda::DevicePointer *buffers,
                                  cuda::Stream stream) {
  const Prepared &prepared = products[number];
  const dpc_product_t &product = prepared.wanted.product;
  auto pointer = [&](uint32_t buffer) { return reinterpret_cast<void *>(buffers[buffer]); };
  if (product.epilogue == DPC_EPILOGUE_BIAS) {
    void *bias = pointer(DPC_PRODUCT_ADDEND);
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
  const cuda::DevicePointer begin = buffers[DPC_PRODUCT_WORKSPACE],
                            aligned = (begin + kWorkspaceAlignment - 1) / kWorkspaceAlignment *
                                      kWorkspaceAlignment;
  const uint64_t bytes = prepared.wanted.workspaceBytes, lost = aligned - begin;
  const cuda::MatmulAlgorithm algorithm = algorithmOf(getChoices()[number]);
  return check(library.cublasLtMatmul(
                   handle, prepared.description, scalar(true), pointer(1), prepared.a, pointer(0),
                   prepared.b, scalar(addsMatrix), pointer(addsMatrix ? DPC_PRODUCT_ADDEND : 2),
                   prepared.d, pointer(2), prepared.d, &algorithm,
                   reinterpret_cast<void *>(aligned), bytes > lost ? bytes - lost : 0, stream),
               "a product");
}

//===----------------------------------------------------------------------===//
// The kind
//===----------------------------------------------------------------------===//

dpc_status_t checkProduct(const void *description) {
  const auto &product = *static_cast<const dpc_product_t *>(description);
  if (dpc_product_is_valid(&product))
    return DPC_OK;
  return fail(
      DPC_INVALID,
      "a product of type %u with results of type %u and epilogue %u, %llu batches of %llu x "
      "%llu sums of %llu",
      product.dtype, product.result_dtype, product.epilogue, Number(product.batches),
      Number(product.rows), Number(product.columns), Number(product.depth));
}

uint32_t countProductBuffers(const void *description) {
  return dpc_product_buffer_count(static_cast<const dpc_product_t *>(description));
}

dpc_status_t checkProductBuffer(const void *description, uint32_t buffer, uint64_t bytes) {
  const auto &product = *static_cast<const dpc_product_t *>(description);
  if (dpc_product_buffer_bytes(&product, buffer) <= bytes)
    return DPC_OK;
  const dpc_product_part_t part = dpc_product_part(&product, buffer);
  return fail(DPC_INVALID,
              "matrix %u of a product, %llu x %llu with strides of %llu and %llu, has a buffer of "
              "%llu bytes",
              buffer, Number(part.rows), Number(part.columns), Number(part.matrix.stride),
              Number(part.matrix.batch_stride), Number(bytes));
}

bool isProductKey(const std::string &text) {
  WantedProduct wanted;
  return fromHex(text, &wanted, sizeof wanted);
}

std::unique_ptr<LibraryCalls> makeProducts() { return std::make_unique<LibraryProducts>(); }

} // namespace

const CallKind kProductCalls = {
    DPC_CALL_PRODUCT,       "product",    "products",
    "products of matrices", "matrix",     "cuBLASLt",
    sizeof(dpc_product_t),  checkProduct, countProductBuffers,
    checkProductBuffer,     isProductKey, isProductAlgorithm,
    makeProducts,
};

} // namespace dpc

// Reads npz files into host tensors, and writes host tensors to npy and
// safetensors files. The runtime's readers and writers do the work, so the
// interpreter and compiled programs agree on every file.

#include "interpreter/Session.h"

#include "dialects/Interfaces/ElementTypes.h"
#include "dpc/data.h"
#include "dpc/safetensors.h"

using namespace mlir;
using namespace dpc;

static HostTensor toTensor(const dpc_array_t &array, Type element) {
  SmallVector<int64_t> shape(array.shape, array.shape + array.dim_count);
  HostTensor tensor(RankedTensorType::get(shape, element));
  uint64_t count = dpc_array_elements(&array);
  if (tensor.isFloat())
    dpc_convert(DPC_F64, tensor.floats.data(), array.dtype, array.data, count);
  else
    dpc_convert(DPC_I64, tensor.ints.data(), array.dtype, array.data, count);
  return tensor;
}

std::optional<DataSet> dpc::readNpz(StringRef path, MLIRContext *context, std::string &error) {
  dpc_array_file_t *file = nullptr;
  if (dpc_npz_open(path.str().c_str(), &file) != DPC_OK) {
    error = dpc_last_error();
    return std::nullopt;
  }
  DataSet data;
  for (size_t i = 0; i < dpc_array_file_count(file); ++i) {
    const dpc_array_t *array = dpc_array_file_at(file, i);
    if (Type element = elementTypeOf(array->dtype, context))
      data.arrays.emplace(array->name, toTensor(*array, element));
  }
  dpc_array_file_close(file);
  return data;
}

/// The dtype in which a file stores the elements of a tensor with element type
/// `element`; DPC_DTYPE_INVALID if a file cannot store them. Floats other than
/// f64 are stored as f32.
static uint32_t fileType(Type element) {
  if (element.isF64())
    return DPC_F64;
  if (isa<FloatType>(element))
    return DPC_F32;
  for (uint32_t dtype = DPC_I64; dtype < DPC_DTYPE_COUNT; ++dtype)
    if (elementTypeOf(dtype, element.getContext()) == element)
      return dtype;
  return DPC_DTYPE_INVALID;
}

bool dpc::writeNpy(StringRef path, const HostTensor &tensor, std::string &error) {
  dpc_array_t array = {};
  array.name = "";
  array.dtype = fileType(tensor.getType().getElementType());
  array.dim_count = tensor.getRank();
  if (array.dim_count > DPC_MAX_RANK_DIMS || array.dtype == DPC_DTYPE_INVALID) {
    error = path.str() + ": a file cannot hold this type";
    return false;
  }
  std::copy(tensor.getShape().begin(), tensor.getShape().end(), array.shape);
  std::vector<char> bytes(tensor.size() * dpc_dtype_size(array.dtype));
  if (tensor.isFloat())
    dpc_convert(array.dtype, bytes.data(), DPC_F64, tensor.floats.data(), tensor.size());
  else
    dpc_convert(array.dtype, bytes.data(), DPC_I64, tensor.ints.data(), tensor.size());
  array.data = bytes.data();
  if (dpc_npy_write(path.str().c_str(), &array) == DPC_OK)
    return true;
  error = dpc_last_error();
  return false;
}

bool dpc::writeSafetensors(StringRef path, const TensorMap &tensors, std::string &error) {
  std::vector<dpc_array_t> arrays;
  std::vector<std::vector<float>> narrowed;
  narrowed.reserve(tensors.size());
  for (const auto &[name, tensor] : tensors) {
    dpc_array_t array = {};
    array.name = name.c_str();
    array.dim_count = tensor.getRank();
    if (tensor.getRank() > DPC_MAX_RANK_DIMS) {
      error = "tensor " + name + " has too many dimensions for a file";
      return false;
    }
    std::copy(tensor.getShape().begin(), tensor.getShape().end(), array.shape);
    if (!tensor.isFloat()) {
      array.dtype = DPC_I64;
      array.data = tensor.ints.data();
    } else if (tensor.getType().getElementType().isF64()) {
      array.dtype = DPC_F64;
      array.data = tensor.floats.data();
    } else {
      narrowed.emplace_back(tensor.floats.begin(), tensor.floats.end());
      array.dtype = DPC_F32;
      array.data = narrowed.back().data();
    }
    arrays.push_back(array);
  }
  if (dpc_safetensors_write(path.str().c_str(), arrays.data(), arrays.size(), nullptr, 0) == DPC_OK)
    return true;
  error = dpc_last_error();
  return false;
}

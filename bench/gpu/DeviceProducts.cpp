// The rates that cuBLASLt reaches on its own, without the launches of a program beside it.
//
// A line of stdin is a product: TYPE RESULT ROWS COLUMNS DEPTH A_TRANSPOSED B_TRANSPOSED. TYPE is
// f64, f32, tf32, bf16 or f16, RESULT the type of the result, and a transposed factor has its
// columns contiguous. Each product is measured with the algorithm that the library expects to be
// fastest, and with the fastest of the first ones.
#include "bench/gpu/DeviceDriver.h"

#include "dpc/data.h"
#include "dpc/product.h"
#include "runtime/src/device/CallKind.h"
#include "runtime/src/device/LibraryCalls.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <random>
#include <sstream>

namespace dpc::bench {

namespace {

constexpr uint64_t kWorkspaceBytes = 32u << 20;
constexpr size_t kMostChoices = 8;

/// The number of a type of elements; for tf32 that of f32.
uint32_t typeNumber(const std::string &name) {
  static const std::map<std::string, uint32_t> known = {
      {"f64", DPC_F64}, {"f32", DPC_F32}, {"tf32", DPC_F32}, {"bf16", DPC_BF16}, {"f16", DPC_F16}};
  const auto found = known.find(name);
  if (found == known.end())
    throw Failure{"no type of a product: " + name};
  return found->second;
}

dpc_product_t parseProduct(const std::string &line) {
  std::istringstream words(line);
  std::string type, result;
  dpc_product_t product = {};
  if (!(words >> type >> result >> product.rows >> product.columns >> product.depth >>
        product.a.transposed >> product.b.transposed))
    throw Failure{"no product: " + line};
  product.dtype = typeNumber(type);
  product.tf32 = type == "tf32";
  product.result_dtype = typeNumber(result);
  product.batches = 1;
  product.a.stride = product.a.transposed ? product.rows : product.depth;
  product.b.stride = product.b.transposed ? product.depth : product.columns;
  product.d.stride = product.columns;
  product.a.batch_stride = product.rows * product.depth;
  product.b.batch_stride = product.depth * product.columns;
  product.d.batch_stride = product.rows * product.columns;
  if (!dpc_product_is_valid(&product))
    throw Failure{"no product that a library makes: " + line};
  return product;
}

/// Fills a factor with random numbers: a device draws more power for them than for zeros, and
/// lowers its clock.
void fillRandomly(BenchDevice &bench, cuda::DevicePointer to, uint32_t dtype, uint64_t bytes) {
  constexpr size_t kCount = 1 << 16;
  const uint64_t size = dpc_dtype_size(dtype);
  std::mt19937 generator(1);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values(kCount);
  for (double &value : values)
    value = uniform(generator);
  std::vector<char> some(kCount * size);
  dpc_convert(dtype, some.data(), DPC_F64, values.data(), kCount);
  for (uint64_t at = 0; at < bytes; at += some.size())
    bench.check(bench.driver().cuMemcpyHtoDAsync_v2(to + at, some.data(),
                                                    std::min<uint64_t>(some.size(), bytes - at),
                                                    bench.stream()),
                "a copy to the device");
  bench.wait();
}

void measureProduct(BenchDevice &bench, LibraryCalls &library, const std::string &line,
                    double least) {
  const dpc_product_t product = parseProduct(line);
  WantedCall wanted;
  wanted.description = &product;
  cuda::DevicePointer buffers[DPC_PRODUCT_MOST_BUFFERS] = {};
  for (uint32_t buffer = 0; buffer < dpc_product_buffer_count(&product); ++buffer) {
    const uint64_t bytes = buffer == DPC_PRODUCT_WORKSPACE
                               ? kWorkspaceBytes
                               : dpc_product_buffer_bytes(&product, buffer);
    buffers[buffer] = bench.allocate(bytes);
    wanted.buffers.push_back({/*alignment=*/256, bytes});
    if (buffer == DPC_PRODUCT_A || buffer == DPC_PRODUCT_B)
      fillRandomly(bench, buffers[buffer], product.dtype, bytes);
  }
  const uint32_t number = library.add(wanted);
  std::vector<CallChoice> choices;
  require(library.findChoices(number, kMostChoices, &choices));
  double first = 0, best = 0;
  for (const CallChoice &choice : choices) {
    if (library.take(number, choice))
      continue; // the library returned an algorithm that does not run
    const double mine =
        bench.measure([&] { require(library.run(number, buffers, bench.stream())); }, least);
    first = first > 0 ? first : mine;
    best = best > 0 ? std::min(best, mine) : mine;
  }
  for (cuda::DevicePointer buffer : buffers)
    if (buffer)
      bench.free(buffer);
  const double operations = 2. * static_cast<double>(product.rows) *
                            static_cast<double>(product.columns) *
                            static_cast<double>(product.depth);
  if (best > 0)
    printLine("{\"product\": \"%s\", \"GFLOP\": %.6g, \"first_us\": %.3f, \"us\": %.3f, "
              "\"TFLOP_per_s\": %.2f, \"algorithms\": %zu}",
              line.c_str(), 1e-9 * operations, first, best, 1e-6 * operations / best,
              choices.size());
  else
    printLine("{\"product\": \"%s\", \"algorithms\": 0}", line.c_str());
}

} // namespace

void measureProducts(BenchDevice &device, double least) {
  const std::unique_ptr<LibraryCalls> library = kProductCalls.make();
  require(library->open());
  printLine("{\"library\": \"cuBLASLt\", \"version\": %llu}",
            static_cast<unsigned long long>(library->getVersion()));
  for (std::string line; std::getline(std::cin, line);)
    if (!line.empty())
      measureProduct(device, *library, line, least);
}

} // namespace dpc::bench

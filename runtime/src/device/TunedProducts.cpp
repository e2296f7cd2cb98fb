// Reads and writes the file with the fastest algorithm of each product.

#include "runtime/src/device/TunedProducts.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Status.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace dpc {

/// First line of a file; the number is the version of the format.
static const char *const kFirstLine = "dpc products 1";

static std::string describe(const dpc_product_t &product) {
  const char *type = product.tf32 ? "tf32" : dpc_dtype_name(product.dtype);
  std::ostringstream text;
  if (product.batches > 1)
    text << product.batches << " x ";
  text << product.rows << "x" << product.depth << (product.a.transposed ? "t" : "") << " "
       << product.depth << "x" << product.columns << (product.b.transposed ? "t" : "") << " "
       << type;
  return text.str();
}

TunedProducts::TunedProducts(std::string device, uint64_t libraryVersion)
    : prefix(std::move(device) + "\t" + std::to_string(libraryVersion) + "\t") {}

std::string TunedProducts::keyOf(const LibraryProducts::Wanted &wanted) const {
  return prefix + toHex(&wanted, sizeof wanted);
}

dpc_status_t TunedProducts::read(const std::string &path) {
  std::ifstream file(path);
  if (!file) {
    if (errno == ENOENT)
      return DPC_OK;
    return fail(DPC_IO, "%s: %s", path.c_str(), std::strerror(errno));
  }
  std::string line;
  if (!std::getline(file, line) || line != kFirstLine)
    return fail(DPC_INVALID, "%s: line 1 is not \"%s\"", path.c_str(), kFirstLine);
  for (size_t number = 2; std::getline(file, line); ++number) {
    std::vector<std::string> fields(1);
    for (char c : line)
      c == '\t' ? void(fields.emplace_back()) : fields.back().push_back(c);
    LibraryProducts::Wanted wanted;
    Entry entry;
    if (fields.size() != 6 || !fromHex(fields[3], &wanted, sizeof wanted) ||
        !fromHex(fields[4], &entry.algorithm, sizeof entry.algorithm))
      return fail(DPC_INVALID, "%s: line %zu is no product with its algorithm", path.c_str(),
                  number);
    entry.words = fields[2];
    entry.microseconds = fields[5];
    entries[fields[0] + "\t" + fields[1] + "\t" + fields[3]] = entry;
  }
  return DPC_OK;
}

const cuda::MatmulAlgorithm *TunedProducts::find(const LibraryProducts::Wanted &wanted) const {
  auto found = entries.find(keyOf(wanted));
  return found == entries.end() ? nullptr : &found->second.algorithm;
}

void TunedProducts::add(const LibraryProducts::Wanted &wanted,
                        const cuda::MatmulAlgorithm &algorithm, double microseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", microseconds);
  entries[keyOf(wanted)] = {describe(wanted.product), text, algorithm};
}

dpc_status_t TunedProducts::write(const std::string &path) const {
  std::string text = std::string(kFirstLine) + "\n";
  for (const auto &[key, entry] : entries) {
    const size_t product = key.rfind('\t');
    text += key.substr(0, product) + "\t" + entry.words + key.substr(product) + "\t" +
            toHex(&entry.algorithm, sizeof entry.algorithm) + "\t" + entry.microseconds + "\n";
  }
  AtomicFile file;
  if (dpc_status_t status = file.create(path))
    return status;
  if (dpc_status_t status = file.write(text.data(), text.size()))
    return status;
  return file.commit();
}

} // namespace dpc

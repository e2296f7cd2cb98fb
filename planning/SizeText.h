#ifndef DPC_PLANNING_SIZETEXT_H
#define DPC_PLANNING_SIZETEXT_H

#include <cstdint>
#include <string>

namespace dpc {

/// The size in the largest fitting unit, with at least three digits from 1 KiB on: "1.50 MiB",
/// "12 bytes".
std::string bytesText(int64_t bytes);
/// The exact size, for messages that compare two sizes: "1572864 bytes (1.50 MiB)", "12 bytes".
std::string exactBytesText(int64_t bytes);
/// The number with a comma every three digits: "1,234,567".
std::string countText(int64_t count);

} // namespace dpc

#endif // DPC_PLANNING_SIZETEXT_H

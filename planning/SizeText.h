#ifndef DPC_PLANNING_SIZETEXT_H
#define DPC_PLANNING_SIZETEXT_H

#include <cstdint>
#include <string>

namespace dpc {

/// The size as text, in the largest unit in which the number is at least 1. From 1 KiB on, the
/// text has at least three digits: "12 bytes", "1.50 MiB", "2048 TiB".
std::string bytesText(int64_t bytes);
/// The exact size in bytes, for messages that compare two sizes: "12 bytes", "1572864 bytes
/// (1.50 MiB)".
std::string exactBytesText(int64_t bytes);
/// The number with a comma every three digits: "1,234,567".
std::string countText(int64_t count);

} // namespace dpc

#endif // DPC_PLANNING_SIZETEXT_H

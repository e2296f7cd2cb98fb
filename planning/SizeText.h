#ifndef DPC_PLANNING_SIZETEXT_H
#define DPC_PLANNING_SIZETEXT_H

#include <cstdint>
#include <string>

namespace dpc {

/// "1.5 MiB", "12 bytes": three digits at least where they say something.
std::string bytesText(int64_t bytes);
/// "1572864 bytes (1.50 MiB)", "12 bytes": for a number that is compared with another.
std::string exactBytesText(int64_t bytes);
/// "1,234,567".
std::string countText(int64_t count);

} // namespace dpc

#endif // DPC_PLANNING_SIZETEXT_H

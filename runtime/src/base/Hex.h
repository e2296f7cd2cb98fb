#ifndef DPC_RUNTIME_SRC_BASE_HEX_H
#define DPC_RUNTIME_SRC_BASE_HEX_H

#include <cstddef>
#include <string>

namespace dpc {

/// Writes each byte as two lower-case hexadecimal digits.
std::string toHex(const void *from, size_t bytes);
/// Parses `bytes` bytes from `text`. Returns false if `text` does not have exactly
/// two lower-case hexadecimal digits per byte.
bool fromHex(const std::string &text, void *to, size_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_HEX_H

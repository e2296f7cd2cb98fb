#ifndef DPC_RUNTIME_SRC_BASE_HEX_H
#define DPC_RUNTIME_SRC_BASE_HEX_H

#include <cstddef>
#include <string>

namespace dpc {

/// Two digits a byte, lower case.
std::string toHex(const void *from, size_t bytes);
/// False where `text` is not that of so many bytes; `to` may then have some.
bool fromHex(const std::string &text, void *to, size_t bytes);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_BASE_HEX_H

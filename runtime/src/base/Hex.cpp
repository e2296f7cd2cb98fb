#include "runtime/src/base/Hex.h"

namespace dpc {

std::string toHex(const void *from, size_t bytes) {
  static const char digits[] = "0123456789abcdef";
  std::string text;
  for (size_t i = 0; i < bytes; ++i) {
    const unsigned char byte = static_cast<const unsigned char *>(from)[i];
    text += digits[byte >> 4];
    text += digits[byte & 15];
  }
  return text;
}

bool fromHex(const std::string &text, void *to, size_t bytes) {
  if (text.size() != 2 * bytes || text.find_first_not_of("0123456789abcdef") != std::string::npos)
    return false;
  for (size_t i = 0; i < bytes; ++i)
    static_cast<unsigned char *>(to)[i] =
        static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  return true;
}

} // namespace dpc

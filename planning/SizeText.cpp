#include "planning/SizeText.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;

std::string dpc::bytesText(int64_t bytes) {
  if (bytes < 1024)
    return std::to_string(bytes) + " bytes";
  double value = bytes;
  const char *unit = "bytes";
  for (const char *next : {"KiB", "MiB", "GiB", "TiB"}) {
    if (value < 1024)
      break;
    value /= 1024;
    unit = next;
  }
  std::string text;
  raw_string_ostream(text) << format(value < 10    ? "%.2f"
                                     : value < 100 ? "%.1f"
                                                   : "%.0f",
                                     value)
                           << ' ' << unit;
  return text;
}

std::string dpc::exactBytesText(int64_t bytes) {
  const std::string exact = std::to_string(bytes) + " bytes";
  return bytes < 1024 ? exact : exact + " (" + bytesText(bytes) + ")";
}

std::string dpc::countText(int64_t count) {
  std::string digits = std::to_string(count);
  for (size_t at = digits.size(); at > 3; at -= 3)
    digits.insert(at - 3, ",");
  return digits;
}

#ifndef DPC_RUNTIME_SRC_DEVICE_TUNEDCALLS_H
#define DPC_RUNTIME_SRC_DEVICE_TUNEDCALLS_H

#include "runtime/src/device/LibraryCalls.h"

#include <map>
#include <string>

namespace dpc {

/// The measured fastest algorithms of library calls, in a file that runs share.
/// The file is text and has a line for each call, device and library version.
/// The fields of a line are separated by tabs: the device's name, the library's
/// version, a description for readers, the call (LibraryCalls::getKey), its
/// algorithm as hexadecimal bytes, and microseconds.
class TunedCalls {
public:
  /// `device` is the name of the device model, on which speed depends.
  TunedCalls(std::string device, uint64_t libraryVersion);

  /// Reads a file; a missing file counts as empty. Returns DPC_INVALID, with a
  /// message that names the line, if the file is malformed.
  dpc_status_t read(const std::string &path);
  /// The algorithm for the call with the key `key` on this device; null if the call
  /// has not been measured.
  const CallChoice *find(const std::string &key) const;
  /// `words` describes the call for readers.
  void add(const std::string &key, const std::string &words, const CallChoice &choice,
           double microseconds);
  /// Writes all entries, including those that were read for other devices.
  dpc_status_t write(const std::string &path) const;

private:
  struct Entry {
    std::string words, microseconds;
    CallChoice choice;
  };

  const std::string prefix; ///< first fields of this device's keys
  /// Keyed by device, version and call, in the notation of the file.
  std::map<std::string, Entry> entries;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TUNEDCALLS_H

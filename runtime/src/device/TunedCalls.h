#ifndef DPC_RUNTIME_SRC_DEVICE_TUNEDCALLS_H
#define DPC_RUNTIME_SRC_DEVICE_TUNEDCALLS_H

#include "runtime/src/device/LibraryCalls.h"

#include <map>
#include <string>

namespace dpc {

/// A file with the fastest algorithm of each measured library call. Many runs can share
/// the file. It is text, with one line per call, device model and library version. Tabs
/// separate the fields of a line: the name of the device model, the version of the
/// library, a description of the call for people, the key of the call
/// (LibraryCalls::getKey), its fastest algorithm as hexadecimal bytes, and the measured
/// time in microseconds.
class TunedCalls {
public:
  /// `find` and `add` use the entries of the device model `device` and of the version
  /// `libraryVersion` of the library, because the fastest algorithm depends on both.
  TunedCalls(std::string device, uint64_t libraryVersion);

  /// Reads a file. A missing file counts as empty. Returns DPC_INVALID if the file is
  /// malformed, with a message that names the line.
  dpc_status_t read(const std::string &path);
  /// Returns the fastest algorithm for the call with the key `key` on this device; null
  /// if the call has not been measured.
  const CallChoice *find(const std::string &key) const;
  /// Adds or replaces the entry of the call with the key `key`. `words` describes the
  /// call for people who read the file.
  void add(const std::string &key, const std::string &words, const CallChoice &choice,
           double microseconds);
  /// Writes all entries, including those of other devices that `read` found in the file.
  dpc_status_t write(const std::string &path) const;

private:
  struct Entry {
    std::string words, microseconds;
    CallChoice choice;
  };

  /// The device, the version, and a tab after each: the beginning of the keys of `entries`
  /// that belong to this device and version.
  const std::string prefix;
  /// The key consists of device, version and call, separated by tabs as in the file.
  std::map<std::string, Entry> entries;
};

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DEVICE_TUNEDCALLS_H

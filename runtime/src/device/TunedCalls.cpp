// Reads and writes files of measured library calls.

#include "runtime/src/device/TunedCalls.h"

#include "runtime/src/base/AtomicFile.h"
#include "runtime/src/base/Hex.h"
#include "runtime/src/base/Status.h"
#include "runtime/src/device/CallKind.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace dpc {

/// The first line of every file. It says "products" because the first versions of dpc
/// had no other kind of library call. The number is the version of the format.
static const char *const kFirstLine = "dpc products 1";

/// The names of all kinds of calls, joined by "or". With one kind: "product".
static std::string namesOfKinds() {
  std::string names;
  for (const CallKind *kind : callKinds())
    names += (names.empty() ? "" : " or ") + std::string(kind->name);
  return names;
}

/// Parses the algorithm of the call with the key `key`. Returns false if no call of any kind can
/// have this key and this algorithm.
static bool parseAlgorithm(const std::string &key, const std::string &text, std::string &out) {
  out.resize(text.size() / 2);
  const std::vector<const CallKind *> &kinds = callKinds();
  return fromHex(text, out.data(), out.size()) &&
         std::any_of(kinds.begin(), kinds.end(), [&](const CallKind *kind) {
           return kind->isKey(key) && kind->isAlgorithm(out);
         });
}

TunedCalls::TunedCalls(std::string device, uint64_t libraryVersion)
    : prefix(std::move(device) + "\t" + std::to_string(libraryVersion) + "\t") {}

dpc_status_t TunedCalls::read(const std::string &path) {
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
    Entry entry;
    if (fields.size() != 6 || !parseAlgorithm(fields[3], fields[4], entry.choice.algorithm))
      return fail(DPC_INVALID, "%s: line %zu is no %s with its algorithm", path.c_str(), number,
                  namesOfKinds().c_str());
    entry.words = fields[2];
    entry.microseconds = fields[5];
    entries[fields[0] + "\t" + fields[1] + "\t" + fields[3]] = entry;
  }
  return DPC_OK;
}

const CallChoice *TunedCalls::find(const std::string &key) const {
  auto found = entries.find(prefix + key);
  return found == entries.end() ? nullptr : &found->second.choice;
}

void TunedCalls::add(const std::string &key, const std::string &words, const CallChoice &choice,
                     double microseconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f", microseconds);
  entries[prefix + key] = {words, text, choice};
}

dpc_status_t TunedCalls::write(const std::string &path) const {
  std::string text = std::string(kFirstLine) + "\n";
  for (const auto &[key, entry] : entries) {
    const size_t call = key.rfind('\t');
    text += key.substr(0, call) + "\t" + entry.words + key.substr(call) + "\t" +
            toHex(entry.choice.algorithm.data(), entry.choice.algorithm.size()) + "\t" +
            entry.microseconds + "\n";
  }
  AtomicFile file;
  if (dpc_status_t status = file.create(path))
    return status;
  if (dpc_status_t status = file.write(text.data(), text.size()))
    return status;
  return file.commit();
}

} // namespace dpc

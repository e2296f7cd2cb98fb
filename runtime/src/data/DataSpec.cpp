// Parses the values of --data: finds the format of each value, and expands patterns
// to the names of files.

#include "runtime/src/data/DataSpec.h"

#include "runtime/src/base/Phrases.h"
#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstddef>
#include <glob.h>
#include <unistd.h>

namespace dpc {

namespace {

constexpr char kIdx[] = "idx:", kTokens[] = "tokens:";

bool startsWith(const std::string &text, const char *prefix) { return text.rfind(prefix, 0) == 0; }

/// Position of the "=" in NAME=FILE.npy; npos if the text has only a file name.
size_t endOfName(const std::string &text) {
  const size_t equals = text.find('='), slash = text.find('/');
  return equals > 0 && (slash == std::string::npos || equals < slash) ? equals : std::string::npos;
}

bool exists(const std::string &path) { return ::access(path.c_str(), F_OK) == 0; }

/// Returns DPC_USAGE if no file is called `name`, but `name` lists existing files
/// with commas between them. The user should give the option once for each file.
dpc_status_t checkCommas(const std::string &name) {
  const std::vector<std::string> parts = splitAtCommas(name);
  if (parts.size() == 1 || exists(name) || !std::all_of(parts.begin(), parts.end(), exists))
    return DPC_OK;
  return fail(DPC_USAGE, "%s: no such file, but %s are there: give the option once for each",
              name.c_str(), listNames(parts).c_str());
}

/// Expands `pattern` to the files that match it, sorted by name.
dpc_status_t expand(const std::string &pattern, std::vector<std::string> *out) {
  if (pattern.find_first_of("*?[") == std::string::npos || exists(pattern)) {
    out->push_back(pattern);
    return DPC_OK;
  }
  glob_t found = {};
  const int code = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  out->assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  // The order is bytewise and does not depend on the locale, so that all ranks and
  // machines have the same order.
  std::sort(out->begin(), out->end());
  if (code == GLOB_NOSPACE)
    return fail(DPC_IO, "out of memory");
  return out->empty() ? fail(DPC_IO, "%s: no file matches", pattern.c_str()) : DPC_OK;
}

} // namespace

std::vector<std::string> splitAtCommas(const std::string &text) {
  std::vector<std::string> parts(1);
  for (char c : text)
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  return parts;
}

dpc_status_t parseDataSpec(const std::string &text, DataSpec *out) {
  out->text = text;
  std::vector<std::string> patterns;
  const size_t equals = endOfName(text);
  const bool isIdx = startsWith(text, kIdx);
  if (isIdx || startsWith(text, kTokens)) {
    out->form = isIdx ? DataForm::idx : DataForm::tokens;
    patterns = splitAtCommas(text.substr(text.find(':') + 1));
    const size_t fileCount = isIdx ? 2 : 1;
    if (patterns.size() < fileCount)
      return fail(DPC_USAGE, "data \"%s\": needs idx:IMAGES,LABELS", text.c_str());
    out->settings.assign(patterns.begin() + std::ptrdiff_t(fileCount), patterns.end());
    patterns.resize(fileCount);
  } else if (equals != std::string::npos) {
    out->form = DataForm::npy;
    out->name = text.substr(0, equals);
    patterns = {text.substr(equals + 1)};
  } else {
    patterns = {text};
  }
  if (out->form == DataForm::npy || out->form == DataForm::npz)
    if (dpc_status_t status = checkCommas(patterns[0]))
      return status;
  std::vector<std::vector<std::string>> expanded(patterns.size());
  for (size_t k = 0; k < patterns.size(); ++k)
    if (dpc_status_t status = expand(patterns[k], &expanded[k]))
      return status;
  if (isIdx && expanded[0].size() != expanded[1].size())
    return fail(DPC_INVALID, "data \"%s\": %zu files of images, but %zu of labels", text.c_str(),
                expanded[0].size(), expanded[1].size());
  for (size_t i = 0; i < expanded[0].size(); ++i) {
    out->files.emplace_back();
    for (const std::vector<std::string> &files : expanded)
      out->files.back().push_back(files[i]);
  }
  return DPC_OK;
}

std::vector<std::string> filesOfData(const std::string &text) {
  DataSpec spec;
  std::vector<std::string> files;
  if (parseDataSpec(text, &spec) == DPC_OK)
    for (const std::vector<std::string> &together : spec.files)
      files.insert(files.end(), together.begin(), together.end());
  return files;
}

} // namespace dpc

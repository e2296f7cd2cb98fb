// Parses the values of --init-params and --save-params: a file, globs that select
// names of the program, and prefixes that convert names.
#include "runtime/src/session/ParameterSpec.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/program/StateNames.h"

#include <algorithm>

namespace dpc {

/// Index of the first character after the path. The path ends after ".safetensors"
/// if a comma or the end of the text follows that, else at the first comma.
static size_t endOfPath(const std::string &text) {
  constexpr const char *kSuffix = ".safetensors";
  const size_t suffix = text.find(kSuffix);
  const size_t end = suffix + std::char_traits<char>::length(kSuffix);
  if (suffix != std::string::npos && (end == text.size() || text[end] == ','))
    return end;
  return std::min(text.find(','), text.size());
}

dpc_status_t parseParameterSpec(const char *option, const std::string &text, ParameterSpec *out) {
  const bool loads = std::string(option) == "--init-params";
  size_t at = endOfPath(text);
  out->path = text.substr(0, at);
  if (out->path.empty())
    return fail(DPC_USAGE, "%s: \"%s\" names no file", option, text.c_str());
  while (at < text.size()) {
    const size_t next = std::min(text.find(',', at + 1), text.size());
    const std::string part = text.substr(at + 1, next - at - 1);
    const size_t equals = std::min(part.find('='), part.size());
    const std::string key = part.substr(0, equals);
    const std::string value = equals < part.size() ? part.substr(equals + 1) : std::string();
    if (part == "partial" && loads)
      out->isPartial = true;
    else if (part == "partial")
      return fail(DPC_USAGE,
                  "%s: partial is a setting of --init-params (only= and except= save "
                  "a part)",
                  option);
    else if (value.empty())
      return fail(DPC_USAGE, "%s: \"%s\" is not only=GLOB, except=GLOB, strip=PREFIX%s", option,
                  part.c_str(), loads ? ", add=PREFIX or partial" : " or add=PREFIX");
    else if (key == "only" || key == "except")
      (key == "only" ? out->only : out->except).push_back(value);
    else if (key == "strip" || key == "add") {
      std::string &prefix = key == "strip" ? out->strip : out->add;
      if (!prefix.empty() && prefix != value)
        return fail(DPC_USAGE, "%s: %s=%s and %s=%s exclude each other", option, key.c_str(),
                    prefix.c_str(), key.c_str(), value.c_str());
      prefix = value;
    } else
      return fail(DPC_USAGE, "%s: unknown setting \"%s\" (only=, except=, strip=%s are known)",
                  option, part.c_str(), loads ? ", add= and partial" : " and add=");
    at = next;
  }
  return DPC_OK;
}

bool matchesState(const dpc_program_t &program, const std::string &glob, const dpc_state_t &state) {
  if (matchesGlob(glob, state.name))
    return true;
  for (uint64_t i = 0; i < state.file_tensor_count; ++i)
    if (findState(program, state.file_tensors[i].name) == DPC_NONE &&
        matchesGlob(glob, state.file_tensors[i].name))
      return true;
  return false;
}

std::string Renaming::apply(const std::string &name) {
  const bool strips = !spec.strip.empty() && name.compare(0, spec.strip.size(), spec.strip) == 0;
  anyStripped |= strips;
  return spec.add + (strips ? name.substr(spec.strip.size()) : name);
}

dpc_status_t Renaming::finish() const {
  if (spec.strip.empty() || anyStripped)
    return DPC_OK;
  return fail(DPC_INVALID, "no tensor's name begins with \"%s\"", spec.strip.c_str());
}

} // namespace dpc

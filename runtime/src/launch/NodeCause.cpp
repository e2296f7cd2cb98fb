#include "runtime/src/launch/NodeCause.h"

#include "dpc/program.h"

#include <algorithm>
#include <cstdio>

namespace dpc {

/// How long a symptom waits for its cause.
static constexpr double kSymptomSeconds = 1;

uint32_t guiltyRank(const char *text) {
  unsigned rank = 0;
  return std::sscanf(text, "rank %u", &rank) == 1 ? rank : DPC_NONE;
}

void CauseFinder::add(const NodeCause &message, double now) {
  if (!message.isSymptom && !cause)
    cause = message;
  if (!message.isSymptom || symptoms.size() == nodes)
    return;
  if (symptoms.empty())
    symptomAt = now;
  symptoms.push_back(message);
}

/// The first symptom that names the rank which most symptoms name. A rank that has lost its
/// connections takes the others for dead, but all others name that rank.
const NodeCause &CauseFinder::mostFrequentSymptom() const {
  const auto frequency = [this](const NodeCause &one) {
    return std::count_if(symptoms.begin(), symptoms.end(), [&](const NodeCause &other) {
      return guiltyRank(other.text) == guiltyRank(one.text);
    });
  };
  return *std::max_element(
      symptoms.begin(), symptoms.end(),
      [&](const NodeCause &a, const NodeCause &b) { return frequency(a) < frequency(b); });
}

std::optional<NodeCause> CauseFinder::find(double now, bool isSuspicious) const {
  if (cause)
    return cause;
  if (symptoms.empty() || now - symptomAt <= kSymptomSeconds || isSuspicious)
    return std::nullopt;
  return mostFrequentSymptom();
}

} // namespace dpc

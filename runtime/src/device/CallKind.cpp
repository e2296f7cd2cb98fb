// Lists the kinds of library calls that the runtime supports. A new kind is added here.

#include "runtime/src/device/CallKind.h"

namespace dpc {

const std::vector<const CallKind *> &callKinds() {
  static const std::vector<const CallKind *> kinds = {&kProductCalls, &kConvolutionCalls};
  return kinds;
}

const CallKind *findCallKind(uint32_t number) {
  for (const CallKind *kind : callKinds())
    if (kind->number == number)
      return kind;
  return nullptr;
}

} // namespace dpc

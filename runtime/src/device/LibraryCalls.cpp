// The part of choosing algorithms that is the same for all kinds of library calls.

#include "runtime/src/device/LibraryCalls.h"

namespace dpc {

dpc_status_t LibraryCalls::choose() {
  choices.assign(size(), {});
  std::vector<CallChoice> found;
  for (uint32_t number = 0; number < choices.size(); ++number) {
    if (dpc_status_t status = findChoices(number, 1, &found))
      return status;
    if (!found.empty())
      if (dpc_status_t status = take(number, found[0]))
        return status;
  }
  return DPC_OK;
}

dpc_status_t LibraryCalls::take(uint32_t number, const CallChoice &choice) {
  if (choice.isMade())
    if (dpc_status_t status = prepare(number, choice))
      return status;
  choices.resize(size());
  choices[number] = choice;
  return DPC_OK;
}

dpc_status_t LibraryCalls::adopt(const std::vector<CallChoice> &all) {
  for (uint32_t number = 0; number < size(); ++number)
    if (dpc_status_t status = take(number, all[number]))
      return status;
  return DPC_OK;
}

} // namespace dpc

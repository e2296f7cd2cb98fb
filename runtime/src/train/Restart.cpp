// Finds out whether a launcher starts a run anew after a failure.

#include "runtime/src/train/Restart.h"

#include "runtime/src/base/RunPage.h"
#include "runtime/src/pieces/StepFolder.h"
#include "runtime/src/session/Launchers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace dpc {

bool Restart::hasWritten(const std::string &directory) const {
  for (const uint64_t step : listCheckpoints(directory)) {
    StepFolder folder;
    Manifest manifest;
    if (folder.open(directory, stepFolderName(step)) == DPC_OK &&
        folder.readManifest(&manifest) == DPC_OK)
      return ids.empty() || std::count(ids.begin(), ids.end(), manifest.run) != 0;
  }
  return true;
}

dpc_status_t findRestart(dpc_session &session, Restart *out) {
  struct Told {
    uint32_t isRestart;
    char id[36];
  } own = {};
  const RunPage *page = runPage();
  own.isRestart = isStartedAgain() || (page && page->restarts);
  std::snprintf(own.id, sizeof own.id, "%s", launcherRunId().c_str());
  std::vector<char> all;
  if (dpc_status_t status = session.collect(&own, sizeof own, &all))
    return status;
  uint32_t isRestart = 0;
  for (size_t at = 0; at < all.size(); at += sizeof own) {
    Told told;
    std::memcpy(&told, all.data() + at, sizeof told);
    isRestart |= told.isRestart;
    if (told.id[0])
      out->ids.emplace_back(told.id);
  }
  if (dpc_status_t status = session.broadcast(&isRestart, sizeof isRestart))
    return status;
  out->isRestart = isRestart;
  return DPC_OK;
}

} // namespace dpc

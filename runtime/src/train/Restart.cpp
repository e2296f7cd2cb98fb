// Finds out whether a launcher starts a run anew after a failure.

#include "runtime/src/train/Restart.h"

#include "runtime/src/base/RunPage.h"
#include "runtime/src/pieces/StepFolder.h"
#include "runtime/src/session/Launchers.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

namespace dpc {

/// The id of the run that wrote the newest readable checkpoint. Empty if there is none.
static std::string newestRun(const std::string &directory) {
  for (const uint64_t step : listCheckpoints(directory)) {
    StepFolder folder;
    Manifest manifest;
    if (folder.open(directory, stepFolderName(step)) == DPC_OK &&
        folder.readManifest(&manifest) == DPC_OK)
      return manifest.run;
  }
  return "";
}

bool Restart::hasWritten(const std::string &directory) const {
  const std::string run = newestRun(directory);
  return run.empty() || ids.empty() || std::count(ids.begin(), ids.end(), run) != 0;
}

dpc_status_t findRestart(dpc_session &session, const std::string &directory, Restart *out) {
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
  if (!out->ids.empty() && std::count(out->ids.begin(), out->ids.end(), newestRun(directory)))
    isRestart = 1;
  if (dpc_status_t status = session.broadcast(&isRestart, sizeof isRestart))
    return status;
  out->isRestart = isRestart;
  return DPC_OK;
}

} // namespace dpc

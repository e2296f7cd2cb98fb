#ifndef DPC_RUNTIME_SRC_POSTMORTEM_POSTMORTEM_H
#define DPC_RUNTIME_SRC_POSTMORTEM_POSTMORTEM_H

#include "dpc/status.h"
#include "runtime/src/postmortem/ReadImage.h"

#include <string>
#include <vector>

namespace dpc {

/// Reads all records of the folders, which are those of --postmortem on the hosts of one run.
/// Returns DPC_IO or DPC_INVALID, with a message that names the folder or file, if there are none,
/// or if one of them cannot be read, is damaged, is there twice, or belongs to another run.
dpc_status_t readRecords(const std::vector<std::string> &folders, std::vector<RankRecord> *out);

/// Explains how a run ended: lines about its first divergent operation, missing ranks, stragglers
/// and the last operation of each rank, and one conclusion. All records must be of one run.
std::string explainRun(const std::vector<RankRecord> &records);

/// The last operation of a rank, for a message about its death: "its last operation, all-reduce of
/// buffer 1, step 3, had started". Empty if `image` has none, or is damaged.
std::string lastOperationText(const char *image);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_POSTMORTEM_POSTMORTEM_H

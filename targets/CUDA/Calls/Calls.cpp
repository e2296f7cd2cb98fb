// Lists the kinds of library calls that the target `cuda` plans. A new kind is added here.

#include "targets/CUDA/Calls/Calls.h"

using namespace mlir;
using namespace dpc;

bool dpc::wantsLibrary(const CallOptions &options, uint64_t multiplications, bool isComplete) {
  const int64_t least = isComplete ? kLargeCall : kVeryLargeCall;
  return options.products == ProductMaker::library ||
         (options.products == ProductMaker::bySize &&
          multiplications >= static_cast<uint64_t>(least));
}

std::optional<PlannedCall> dpc::planCall(const KernelGraph &graph, const LoopGroup &group,
                                         const CallOptions &options) {
  static CallPlanner *const planners[] = {planProduct, planConvolution};
  for (CallPlanner *plan : planners)
    if (std::optional<PlannedCall> call = plan(graph, group, options))
      return call;
  return std::nullopt;
}

LibraryWork dpc::libraryWorkOf(Operation *op, const CallOptions &options) {
  static WorkFinder *const finders[] = {findWorkOfProduct, findWorkOfConvolution};
  for (WorkFinder *find : finders)
    if (LibraryWork work = find(op, options); work != LibraryWork::none)
      return work;
  return LibraryWork::none;
}

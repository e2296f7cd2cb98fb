#ifndef DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H
#define DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H

#include "runtime/src/data/InputLoader.h"

#include <vector>

namespace dpc {

/// Changes a binding so that its samples lie along the input's batch_dim. The
/// binding must already have its number of samples (`rows`).
void layAsInput(const dpc_input_t &input, Binding *binding);

/// Decides the layout of each array with Layout::either, whose samples could lie
/// along the first dimension or along batch_dim. The array gets the layout of the
/// other arrays of its input. If all arrays of its input have Layout::either, the
/// array gets the layout of the arrays of the other inputs. If the arrays that would
/// decide have different layouts, or none exist, the array keeps Layout::either.
void settleLayouts(const dpc_program_t &program, const std::vector<InputLoader *> &loaders);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H

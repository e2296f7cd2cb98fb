#ifndef DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H
#define DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H

#include "runtime/src/data/InputLoader.h"

#include <vector>

namespace dpc {

/// Changes a binding, whose number of samples is set, so that its samples lie
/// along the input's batch_dim.
void layAsInput(const dpc_input_t &input, Binding *binding);

/// Decides the layout of arrays that fit with their samples along either
/// dimension. They get the layout of other arrays of the same input or, if
/// there are none, of all inputs. If those have both layouts, the arrays stay
/// as they are.
void settleLayouts(const dpc_program_t &program, const std::vector<InputLoader *> &loaders);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H

#ifndef DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H
#define DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H

#include "runtime/src/data/InputLoader.h"

#include <vector>

namespace dpc {

/// Makes a binding, whose samples are counted, one whose samples are where the input has
/// them.
void layAsInput(const dpc_input_t &input, Binding *binding);

/// Arrays that can be read in two ways are read as the others of the run: as those of the
/// same input, or if there are none, as those of all inputs. They stay as they are if the
/// others have both layouts.
void settleLayouts(const dpc_program_t &program, const std::vector<InputLoader *> &loaders);

} // namespace dpc

#endif // DPC_RUNTIME_SRC_DATA_SETTLELAYOUTS_H

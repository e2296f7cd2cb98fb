#include "runtime/src/program/Controls.h"

#include "dpc/data.h"
#include "runtime/src/base/Groups.h"

namespace dpc {

dpc_status_t uploadControls(const dpc_program_t &program, uint32_t rank, const Controls &controls,
                            Queue &queue) {
  for (uint32_t i = 0; i < program.control_count; ++i) {
    const dpc_control_t &control = program.controls[i];
    const dpc_place_t &place = control.places[rank];
    if (place.space == DPC_NONE)
      continue;
    uint64_t whole = 0;
    double real = 0;
    bool isReal = false;
    switch (control.kind) {
    case DPC_CONTROL_STEP:
      whole = controls.step;
      break;
    case DPC_CONTROL_SEED:
      whole = controls.seed;
      break;
    case DPC_CONTROL_VALID_ROWS:
      whole = controls.validRows;
      break;
    case DPC_CONTROL_COORDINATE:
      whole = coordinateOf(program, rank, control.axis);
      break;
    case DPC_CONTROL_LEARNING_RATE:
      real = controls.learningRate;
      isReal = true;
      break;
    }
    char value[8];
    if (dpc_status_t status = isReal ? dpc_convert(control.dtype, value, DPC_F64, &real, 1)
                                     : dpc_convert(control.dtype, value, DPC_U64, &whole, 1))
      return status;
    if (dpc_status_t status =
            queue.upload({place.space, place.offset}, value, dpc_dtype_size(control.dtype)))
      return status;
  }
  return DPC_OK;
}

} // namespace dpc

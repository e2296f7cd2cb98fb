#ifndef DPC_RECORD_NODENAMES_H
#define DPC_RECORD_NODENAMES_H

#include "mlir/IR/Location.h"

#include <string>

namespace dpc {

/// What a location names, for messages and traces: the first few of a kind, and
/// how many more there are.
struct NodeNames {
  std::string nodes;   ///< of the ONNX file; empty if it names none
  std::string modules; ///< paths of what exported them
};
NodeNames namesOf(mlir::Location loc);

} // namespace dpc

#endif // DPC_RECORD_NODENAMES_H

// The order in which a stage runs the pieces and messages of a pipelined loop.

#ifndef DPC_PLANNING_STAGEORDER_H
#define DPC_PLANNING_STAGEORDER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <vector>

namespace dpc {

/// One step of a stage.
struct StageStep {
  enum Kind {
    run,  ///< run piece `index` of the loop
    send, ///< start the `dist.send` with the number `index`
    recv, ///< start the `dist.recv` with the number `index`
    wait, ///< wait for the message with the number `index`, which the stage has started
  };
  Kind kind = run;
  int64_t index = 0;
  int64_t microbatch = 0;
};

/// The steps of a stage in order, as the attribute `dist.order` of its loop holds them. The text
/// form of a step is a letter (r, s, v or w for run, send, receive and wait), the index, a dot and
/// the microbatch: "v3.0 w3.0 r0.0 s5.0 r0.1 w5.0".
struct StageOrder {
  std::vector<StageStep> steps;

  std::string toString() const;
  static llvm::Expected<StageOrder> parse(llvm::StringRef text);
};

} // namespace dpc

#endif // DPC_PLANNING_STAGEORDER_H

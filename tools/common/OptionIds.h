#ifndef DPC_TOOLS_COMMON_OPTIONIDS_H
#define DPC_TOOLS_COMMON_OPTIONIDS_H

#include "llvm/Option/OptTable.h"

// Defines the ids OPT_x of a tool's options. The tool that includes this header generates
// Options.inc from its Options.td.
namespace {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

} // namespace

#endif // DPC_TOOLS_COMMON_OPTIONIDS_H

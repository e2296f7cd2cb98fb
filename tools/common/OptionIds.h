#ifndef DPC_TOOLS_COMMON_OPTIONIDS_H
#define DPC_TOOLS_COMMON_OPTIONIDS_H

#include "llvm/Option/OptTable.h"

// The ids OPT_x of the options of the tool that includes this, from the Options.inc that tblgen
// made of its Options.td.
namespace {

enum OptionId {
  OPT_INVALID = 0,
#define OPTION(...) LLVM_MAKE_OPT_ID(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

} // namespace

#endif // DPC_TOOLS_COMMON_OPTIONIDS_H

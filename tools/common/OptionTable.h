#ifndef DPC_TOOLS_COMMON_OPTIONTABLE_H
#define DPC_TOOLS_COMMON_OPTIONTABLE_H

#include "tools/common/CommandLine.h"
#include "tools/common/OptionIds.h"

#include "llvm/Option/OptTable.h"

#include <iterator>

// Defines the class OptionTable, which parses a tool's options. The tool that includes this
// header generates Options.inc from its Options.td. Only one source file of a tool includes
// this header.
namespace {

#define PREFIX(NAME, VALUE)                                                                        \
  constexpr llvm::StringLiteral NAME##_init[] = VALUE;                                             \
  constexpr llvm::ArrayRef<llvm::StringLiteral> NAME(NAME##_init, std::size(NAME##_init) - 1);
#include "Options.inc"
#undef PREFIX

// Names that the entries of Options.inc use without a namespace.
using dpc::NotYetAvailable;
using dpc::Repeatable;
using llvm::opt::DefaultVis;
using llvm::opt::HelpHidden;

constexpr llvm::opt::OptTable::Info optionInfos[] = {
#define OPTION(...) LLVM_CONSTRUCT_OPT_INFO(__VA_ARGS__),
#include "Options.inc"
#undef OPTION
};

class OptionTable : public llvm::opt::GenericOptTable {
public:
  OptionTable() : GenericOptTable(optionInfos) {}
};

} // namespace

#endif // DPC_TOOLS_COMMON_OPTIONTABLE_H

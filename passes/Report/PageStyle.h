#ifndef DPC_PASSES_REPORT_PAGESTYLE_H
#define DPC_PASSES_REPORT_PAGESTYLE_H

#include "llvm/ADT/StringRef.h"

namespace dpc {

/// The style sheet and the script of a report page.
extern const llvm::StringLiteral kPageStyle, kPageScript;

} // namespace dpc

#endif // DPC_PASSES_REPORT_PAGESTYLE_H

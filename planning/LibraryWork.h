#ifndef DPC_PLANNING_LIBRARYWORK_H
#define DPC_PLANNING_LIBRARYWORK_H

namespace dpc {

/// What a library computes of an op and of those that follow it.
enum class LibraryWork {
  none,    ///< nothing: generated code may compute the op and others in one launch
  op,      ///< the op
  addition ///< the op, and the addition of one bias or matrix to its result
};

} // namespace dpc

#endif // DPC_PLANNING_LIBRARYWORK_H

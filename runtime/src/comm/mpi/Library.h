// The functions of MPI that dpc uses, with declarations of our own: one binary works with
// Open MPI, with MPICH and compatible libraries, and with the ABI of MPI 5.
#ifndef DPC_RUNTIME_SRC_COMM_MPI_LIBRARY_H
#define DPC_RUNTIME_SRC_COMM_MPI_LIBRARY_H

#include "dpc/status.h"

#include <cstdint>
#include <string>

namespace dpc::mpi {

/// A handle of MPI: a pointer in Open MPI and in the ABI of MPI 5, an int in MPICH. A call
/// passes both in one register, and MPICH reads its lower half. A function that returns
/// a handle writes 4 or 8 bytes, so the variable must be zero before.
using Handle = uintptr_t;

/// Room for an MPI_Status of any implementation.
struct StatusRoom {
  uint64_t room[8];
};

// X(name, parameters) for each function. All return an error code, which is 0 for success.
#define DPC_MPI_FUNCTIONS(X)                                                                       \
  X(MPI_Init_thread, (int *, char ***, int, int *))                                                \
  X(MPI_Initialized, (int *))                                                                      \
  X(MPI_Query_thread, (int *))                                                                     \
  X(MPI_Finalize, ())                                                                              \
  X(MPI_Comm_rank, (Handle, int *))                                                                \
  X(MPI_Comm_size, (Handle, int *))                                                                \
  X(MPI_Comm_dup, (Handle, Handle *))                                                              \
  X(MPI_Comm_set_errhandler, (Handle, Handle))                                                     \
  X(MPI_Bcast, (void *, int, Handle, int, Handle))                                                 \
  X(MPI_Isend, (const void *, int, Handle, int, int, Handle, Handle *))                            \
  X(MPI_Irecv, (void *, int, Handle, int, int, Handle, Handle *))                                  \
  X(MPI_Test, (Handle *, int *, StatusRoom *))                                                     \
  X(MPI_Error_string, (int, char *, int *))                                                        \
  X(MPI_Get_library_version, (char *, int *))

/// The constants of an ABI: handles, and the numbers of the levels of thread support.
struct Constants {
  Handle world, self, byte, errorsReturn;
  int funneled, multiple;
};

struct Library {
// NOLINTNEXTLINE(bugprone-macro-parentheses): `parameters` has parentheses already.
#define DPC_MPI_POINTER(name, parameters) int(*name) parameters = nullptr;
  DPC_MPI_FUNCTIONS(DPC_MPI_POINTER)
#undef DPC_MPI_POINTER
  Constants constants = {};
  std::string path; ///< for messages

  /// The text of an error code.
  std::string describe(int error) const;
  /// The name and version of the implementation, e.g. "Open MPI v4.1.4". Needs no MPI_Init.
  std::string version() const;
};

/// Opens the library of the MPI whose launcher has started this process: the one that the
/// process has loaded already, or the file DPC_MPI_LIBRARY, or the library of the launcher.
/// It stays open until the process ends. Returns DPC_INVALID, with a message of one line, if
/// there is none, and DPC_USAGE if no launcher of MPI has started this process.
dpc_status_t openLibrary(Library *out);

} // namespace dpc::mpi

#endif // DPC_RUNTIME_SRC_COMM_MPI_LIBRARY_H

// Opens MPI at run time. The constants are those of Open MPI 4 and 5 (mpi.h, ompi_config.h),
// of MPICH from 3.2 on (mpi.h.in; its ABI is that of Intel MPI and MVAPICH too), and of the
// MPI standard 5.0, chapter 20.

#include "runtime/src/comm/mpi/Library.h"

#include "runtime/src/base/Status.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <vector>

namespace dpc::mpi {

namespace {

/// libmpi.so.40 is Open MPI, libmpi.so.12 and Debian's libmpich.so.12 are MPICH.
constexpr const char *kOpenMpi[] = {"libmpi.so.40"};
constexpr const char *kMpich[] = {"libmpi.so.12", "libmpich.so.12"};
constexpr const char *kStandard[] = {"libmpi_abi.so.0", "libmpi_abi.so.1", "libmpi_abi.so"};

bool isSet(const char *name) { return std::getenv(name) != nullptr; }

/// Whether a variable of mpirun, or of another launcher of MPI, is set.
bool hasMpiLauncher() {
  for (const char *name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_RANK", "MPI_LOCALNRANKS"})
    if (isSet(name))
      return true;
  return false;
}

/// The names to try, the library of this process's launcher first.
std::vector<std::string> candidates() {
  std::vector<std::string> names;
  const auto add = [&](const auto &list) {
    names.insert(names.end(), std::begin(list), std::end(list));
  };
  const bool isHydra = isSet("PMI_SIZE") || isSet("MPI_LOCALNRANKS");
  const bool isOpenMpi = isSet("OMPI_COMM_WORLD_SIZE");
  if (isHydra && !isOpenMpi) {
    add(kMpich);
    add(kStandard);
    add(kOpenMpi);
  } else {
    add(kOpenMpi);
    add(kMpich);
    add(kStandard);
  }
  return names;
}

/// Finds the library that a program which uses MPI itself has loaded, or one by name.
dpc_status_t openAny(void **outLibrary, std::string *outPath) {
  Dl_info where = {};
  if (void *loaded = ::dlsym(RTLD_DEFAULT, "MPI_Init_thread")) {
    *outLibrary = RTLD_DEFAULT; // a null pointer
    *outPath = ::dladdr(loaded, &where) && where.dli_fname ? where.dli_fname : "this program";
    return DPC_OK;
  }
  std::vector<std::string> names = candidates();
  const char *given = std::getenv("DPC_MPI_LIBRARY");
  if (given && *given)
    names = {given};
  for (const std::string &name : names) {
    *outPath = name;
    // Open MPI's modules look for its symbols among the global ones.
    if ((*outLibrary = ::dlopen(name.c_str(), RTLD_NOW | RTLD_GLOBAL)))
      return DPC_OK;
  }
  const char *error = ::dlerror();
  return given && *given
             ? fail(DPC_INVALID, "--comm=mpi: DPC_MPI_LIBRARY: %s", error ? error : given)
             : fail(DPC_INVALID,
                    "--comm=mpi: neither Open MPI's library (libmpi.so.40) nor MPICH's "
                    "(libmpi.so.12, libmpich.so.12) nor libmpi_abi.so is there");
}

constexpr Constants kMpichConstants = {0x44000000, 0x44000001, 0x4c00010d, 0x54000001, 1, 3};
constexpr Constants kStandardConstants = {0x101, 0x102, 0x247, 0x143, 1024, 4096};

/// The constants of Open MPI, whose handles are addresses in the library. `world` is 0 if the
/// library is another one.
Constants findOpenMpiConstants(void *library) {
  const auto address = [&](const char *name) {
    return reinterpret_cast<Handle>(::dlsym(library, name));
  };
  return {address("ompi_mpi_comm_world"),
          address("ompi_mpi_comm_self"),
          address("ompi_mpi_byte"),
          address("ompi_mpi_errors_return"),
          1,
          3};
}

/// Whether the library has the ABI of the standard. Its functions have the names of all others,
/// and it has no constants that a program could look up. A library of that ABI that calls Open
/// MPI's has its constants too, so they say nothing.
bool isStandard(void *library, const std::string &path) {
  if (path.find("libmpi_abi") != std::string::npos)
    return true;
  int major = -1, minor = -1;
  const auto version =
      reinterpret_cast<int (*)(int *, int *)>(::dlsym(library, "MPI_Abi_get_version"));
  return version && version(&major, &minor) == 0 && major >= 1;
}

} // namespace

std::string Library::describe(int error) const {
  char text[1024] = {};
  int length = 0;
  if (MPI_Error_string(error, text, &length) != 0)
    return "error " + std::to_string(error);
  for (char &c : text)
    if (c == '\n')
      c = ' ';
  return text;
}

std::string Library::version() const {
  char text[8192] = {}; // MPI_MAX_LIBRARY_VERSION_STRING is at most this
  int length = 0;
  if (MPI_Get_library_version(text, &length) != 0)
    return path;
  std::string line(text, std::strcspn(text, ",\n"));
  std::replace(line.begin(), line.end(), '\t', ' ');
  return line;
}

dpc_status_t openLibrary(Library *out) {
  void *library = nullptr;
  if (!hasMpiLauncher())
    return fail(DPC_USAGE, "--comm=mpi: no mpirun has started this process");
  if (dpc_status_t status = openAny(&library, &out->path))
    return status;
  const auto find = [&](const char *name, auto *pointer) {
    *reinterpret_cast<void **>(pointer) = ::dlsym(library, name);
    return *pointer != nullptr;
  };
#define DPC_MPI_FIND(name, parameters)                                                             \
  if (!find(#name, &out->name))                                                                    \
    return fail(DPC_INVALID, "--comm=mpi: %s has no function " #name, out->path.c_str());
  DPC_MPI_FUNCTIONS(DPC_MPI_FIND)
#undef DPC_MPI_FIND
  out->constants =
      isStandard(library, out->path) ? kStandardConstants : findOpenMpiConstants(library);
  if (!out->constants.world)
    out->constants = kMpichConstants;
  return DPC_OK;
}

} // namespace dpc::mpi

// Opens NVIDIA's libraries by their file names. In tests, the files may be
// substitutes that have the same functions.
#include "runtime/src/cuda/Libraries.h"

#include "runtime/src/base/Status.h"
#include "runtime/src/cuda/PackageFolders.h"

#include <cstdlib>
#include <dlfcn.h>
#include <initializer_list>
#include <mutex>
#include <set>
#include <string>
#include <utility>

using namespace dpc;
using namespace dpc::cuda;

namespace {
struct Wanted {
  const char *name;
  void **pointer;
};
} // namespace

static void *openOne(const std::string &path) {
  return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

static std::mutex notesMutex; // protects libraryNotes
static std::vector<std::string> libraryNotes;

/// Notes where a library was found. Several ranks or objects of a process may open it.
static void noteLibrary(const std::string &text) {
  static std::set<std::string> known;
  std::lock_guard<std::mutex> lock(notesMutex);
  if (known.insert(text).second)
    libraryNotes.push_back(text);
}

std::vector<std::string> dpc::cuda::takeLibraryNotes() {
  std::lock_guard<std::mutex> lock(notesMutex);
  return std::exchange(libraryNotes, {});
}

/// Opens the first library in `names` that exists, and looks up every function in
/// it. `what` is the name of the library in messages, `package` the folder of its Python package;
/// null if it is in no package.
static dpc_status_t open(const char *what, const char *package,
                         std::initializer_list<const char *> names,
                         std::initializer_list<Wanted> functions) {
  const char *folder = std::getenv("DPC_CUDA_LIBRARIES");
  const bool isGiven = folder && *folder;
  void *library = nullptr;
  const char *opened = nullptr;
  std::string reason;
  for (const char *name : names) {
    library = openOne(isGiven ? std::string(folder) + "/" + name : name);
    if (library) {
      opened = name;
      break;
    }
    const char *error = dlerror();
    if (reason.empty() && error)
      reason = error;
  }
  for (const char *name : names) {
    if (library || isGiven || !package)
      break;
    for (const std::string &found : findPackageFolders(package, name))
      if (!library && (library = openOne(found + "/" + name))) {
        opened = name;
        noteLibrary(std::string(what) + " is " + name + " of " + found);
      }
  }
  if (!library)
    return fail(DPC_INVALID, "%s is not there: %s", what, reason.c_str());
  for (const Wanted &function : functions) {
    *function.pointer = dlsym(library, function.name);
    if (!*function.pointer)
      return fail(DPC_INVALID, "%s (%s) has no function %s: it is too old", what, opened,
                  function.name);
  }
  return DPC_OK;
}

#define DPC_CUDA_WANTED(result, name, parameters) {#name, reinterpret_cast<void **>(&into.name)},

dpc_status_t dpc::cuda::openDriver(Driver &into) {
  return open("the CUDA driver", nullptr, {"libcuda.so.1"},
              {DPC_CUDA_DRIVER_FUNCTIONS(DPC_CUDA_WANTED)});
}

dpc_status_t dpc::cuda::openCublasLt(CublasLt &into, bool isOlder) {
  if (isOlder)
    return open("cuBLASLt", "cublas", {"libcublasLt.so.12"},
                {DPC_CUBLASLT_FUNCTIONS(DPC_CUDA_WANTED)});
  return open("cuBLASLt", "cublas", {"libcublasLt.so.13", "libcublasLt.so.12"},
              {DPC_CUBLASLT_FUNCTIONS(DPC_CUDA_WANTED)});
}

dpc_status_t dpc::cuda::openCudnn(Cudnn &into) {
  return open("cuDNN", "cudnn", {"libcudnn.so.9"}, {DPC_CUDNN_FUNCTIONS(DPC_CUDA_WANTED)});
}

dpc_status_t dpc::cuda::openNccl(Nccl &into) {
  return open("NCCL", "nccl", {"libnccl.so.2"}, {DPC_NCCL_FUNCTIONS(DPC_CUDA_WANTED)});
}

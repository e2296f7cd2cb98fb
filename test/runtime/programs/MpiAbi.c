/* A library with the ABI of MPI 5.0 (chapter 20) over the MPI library UNDERLYING, which is Open
 * MPI's if OPEN_MPI is defined, else MPICH's. It takes no handle but those of the standard and
 * those that it has made. */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef OPEN_MPI
typedef void *Handle;
#else
typedef int Handle;
#endif

/* Handles of the standard are pointers, and the predefined ones are small numbers. */
typedef struct Abi *AbiHandle;
typedef struct {
  int source, tag, error, internal[5];
} AbiStatus;

enum {
  kWorld = 0x101,
  kSelf = 0x102,
  kErrorsReturn = 0x143,
  kRequestNull = 0x180,
  kByte = 0x247,
  kErrorType = 3,
  kErrorComm = 5,
  kErrorRequest = 7,
  kErrorHandler = 61,
  kErrorOther = 16,
  kLastCode = 16383,
  kMadeMost = 4096
};

/* The handles that this library has made: it gives out pointers to them. */
static struct Abi {
  Handle handle;
  int isUsed;
} made[kMadeMost];

static void *find(const char *name) {
  static void *library;
  if (!library)
    library = dlopen(UNDERLYING, RTLD_NOW | RTLD_GLOBAL);
  void *found = library ? dlsym(library, name) : NULL;
  if (!found) {
    fprintf(stderr, "%s: no %s\n", UNDERLYING, name);
    abort();
  }
  return found;
}

/* Calls a function of the library below, which has every function under the name of the
 * profiling interface too. */
#define CALL(name, parameters, ...) toAbi(((int(*) parameters)find("P" #name))(__VA_ARGS__))

/* An error of the library below becomes a code beyond those of the standard. */
static int toAbi(int code) { return code ? kLastCode + 1 + code : 0; }

static AbiHandle give(Handle handle) {
  for (int i = 0; i < kMadeMost; ++i)
    if (!made[i].isUsed) {
      made[i].isUsed = 1;
      made[i].handle = handle;
      return &made[i];
    }
  fprintf(stderr, "too many handles\n");
  abort();
}

static int isMade(AbiHandle given) {
  return given >= made && given < made + kMadeMost && given->isUsed;
}

static Handle fixed(const char *openMpi, unsigned mpich) {
#ifdef OPEN_MPI
  (void)mpich;
  return find(openMpi);
#else
  (void)openMpi;
  return (int)mpich;
#endif
}

static int toComm(AbiHandle given, Handle *out) {
  if ((uintptr_t)given == kWorld)
    *out = fixed("ompi_mpi_comm_world", 0x44000000);
  else if ((uintptr_t)given == kSelf)
    *out = fixed("ompi_mpi_comm_self", 0x44000001);
  else if (isMade(given))
    *out = given->handle;
  else
    return kErrorComm;
  return 0;
}

static int toType(AbiHandle given, Handle *out) {
  *out = fixed("ompi_mpi_byte", 0x4c00010d);
  return (uintptr_t)given == kByte ? 0 : kErrorType;
}

/* Levels of thread support: 0, 1024, 2048 and 4096. */
static int toLevel(int given) { return given == 4096 ? 3 : given / 1024; }
static int toAbiLevel(int level) { return level == 3 ? 4096 : level * 1024; }

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
  int level = 0;
  const int error =
      CALL(MPI_Init_thread, (int *, char ***, int, int *), argc, argv, toLevel(required), &level);
  *provided = toAbiLevel(level);
  return error;
}

int MPI_Query_thread(int *provided) {
  int level = 0;
  const int error = CALL(MPI_Query_thread, (int *), &level);
  *provided = toAbiLevel(level);
  return error;
}

int MPI_Initialized(int *flag) { return CALL(MPI_Initialized, (int *), flag); }

int MPI_Finalize(void) { return CALL(MPI_Finalize, (void), ); }

static int ask(AbiHandle given, int *out, const char *name) {
  Handle comm;
  const int error = toComm(given, &comm);
  return error ? error : toAbi(((int (*)(Handle, int *))find(name))(comm, out));
}

int MPI_Comm_rank(AbiHandle comm, int *rank) { return ask(comm, rank, "PMPI_Comm_rank"); }
int MPI_Comm_size(AbiHandle comm, int *size) { return ask(comm, size, "PMPI_Comm_size"); }

int MPI_Comm_dup(AbiHandle given, AbiHandle *out) {
  Handle comm, copy;
  int error = toComm(given, &comm);
  if (!error && !(error = CALL(MPI_Comm_dup, (Handle, Handle *), comm, &copy)))
    *out = give(copy);
  return error;
}

int MPI_Comm_set_errhandler(AbiHandle given, AbiHandle handler) {
  Handle comm;
  const int error = toComm(given, &comm);
  if (error || (uintptr_t)handler != kErrorsReturn)
    return error ? error : kErrorHandler;
  return CALL(MPI_Comm_set_errhandler, (Handle, Handle), comm,
              fixed("ompi_mpi_errors_return", 0x54000001));
}

int MPI_Bcast(void *buffer, int count, AbiHandle givenType, int root, AbiHandle given) {
  Handle comm, type;
  int error = toComm(given, &comm);
  if (!error && !(error = toType(givenType, &type)))
    error = CALL(MPI_Bcast, (void *, int, Handle, int, Handle), buffer, count, type, root, comm);
  return error;
}

static int begin(const char *name, void *buffer, int count, AbiHandle givenType, int peer, int tag,
                 AbiHandle given, AbiHandle *out) {
  Handle comm, type, request;
  int error = toComm(given, &comm);
  if (error || (error = toType(givenType, &type)))
    return error;
  error = toAbi(((int (*)(void *, int, Handle, int, int, Handle, Handle *))find(name))(
      buffer, count, type, peer, tag, comm, &request));
  if (!error)
    *out = give(request);
  return error;
}

int MPI_Isend(const void *buffer, int count, AbiHandle type, int to, int tag, AbiHandle comm,
              AbiHandle *request) {
  return begin("PMPI_Isend", (void *)(uintptr_t)buffer, count, type, to, tag, comm, request);
}

int MPI_Irecv(void *buffer, int count, AbiHandle type, int from, int tag, AbiHandle comm,
              AbiHandle *request) {
  return begin("PMPI_Irecv", buffer, count, type, from, tag, comm, request);
}

int MPI_Test(AbiHandle *request, int *flag, AbiStatus *status) {
  if (!isMade(*request))
    return kErrorRequest;
  char room[128] = {0}; /* a status of either library */
  const int error = CALL(MPI_Test, (Handle *, int *, void *), &(*request)->handle, flag, room);
  if (!error && *flag) {
    (*request)->isUsed = 0;
    *request = (AbiHandle)(uintptr_t)kRequestNull;
    if (status) /* all of its 32 bytes, as an implementation may */
      memset(status, 0x5a, sizeof *status);
  }
  return error;
}

int MPI_Error_string(int code, char *text, int *length) {
  if (code > kLastCode)
    return CALL(MPI_Error_string, (int, char *, int *), code - kLastCode - 1, text, length);
  *length = snprintf(text, 512, "class %d of the standard", code);
  return 0;
}

int MPI_Get_library_version(char *text, int *length) {
  const int error = CALL(MPI_Get_library_version, (char *, int *), text, length);
  if (!error)
    *length = snprintf(text, 64, "ABI of MPI 5 over %s, test", UNDERLYING);
  return error;
}

int MPI_Abi_get_version(int *major, int *minor) {
  *major = 1;
  *minor = 0;
  return 0;
}

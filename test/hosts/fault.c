/* The main function of a compiled program in which one rank breaks.
 *
 * DPC_TEST_FAULT=KIND:RANK:MOMENT, with the kinds and moments of the tables below. When the fault
 * happens, the rank creates the file DPC_TEST_FAULT_MARK. The object file of the program is linked
 * with this file and with the runtime, with -Wl,--wrap=dpc_comm_create. */
#define _GNU_SOURCE
#include "dpc/dpc.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

extern const dpc_program_t dpc_program;

enum moment { BEFORE, RENDEZVOUS, FIRST, COLLECTIVE, CHECKPOINT, END, NEVER };
static const char *const kMoments[] = {"before",     "rendezvous", "first",
                                       "collective", "checkpoint", "end"};
enum { kCollective = 20 }; /* the operation of the moment `collective` */

static enum moment moment = NEVER;
static char kind[20];
static char *const *bases; /* of the spaces, in the latest call of a function */
static dpc_comm_vtable_t real, table;
static dpc_comm_op_t earlier[64]; /* the first operations of the run */
static unsigned operations;
static int armed, diskIsFull, corrupts;

static int is(const char *name) { return strcmp(kind, name) == 0; }

static void mark(void) {
  const char *path = getenv("DPC_TEST_FAULT_MARK");
  close(open(path ? path : "/dev/null", O_CREAT | O_WRONLY, 0600));
}

/* Ends all TCP connections of this process with a reset. */
static void reset_connections(void) {
  DIR *folder = opendir("/proc/self/fd");
  for (struct dirent *entry; folder && (entry = readdir(folder));) {
    const int fd = atoi(entry->d_name);
    struct sockaddr_in peer;
    socklen_t length = sizeof peer;
    if (getpeername(fd, (struct sockaddr *)&peer, &length) || peer.sin_family != AF_INET)
      continue;
    const struct linger now = {1, 0};
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    const int other = socket(AF_INET, SOCK_STREAM, 0);
    dup2(other, fd);
    close(other);
  }
  closedir(folder);
}

/* Changes the first parameter of this rank. */
static void change_state(void) {
  const unsigned rank = (unsigned)atoi(getenv("RANK"));
  for (uint32_t s = 0; bases && s < dpc_program.state_count; ++s) {
    const dpc_state_t *state = &dpc_program.states[s];
    const dpc_placement_t *place = &state->placements[rank];
    if (state->kind != DPC_STATE_PARAMETER || state->dtype != DPC_F32 || !place->run_count)
      continue;
    char *at = bases[place->space] + place->offset;
    if (is("flip"))
      at[2] ^= 1;
    else
      *(float *)at += is("nan") ? NAN : 1e-3f;
    return;
  }
}

static void act(void) {
  static const struct {
    const char *name;
    int number;
  } signals[] = {
      {"kill", SIGKILL}, {"term", SIGTERM}, {"segv", SIGSEGV}, {"int", SIGINT}, {"stop", SIGSTOP}};
  moment = NEVER;
  mark();
  for (unsigned i = 0; i < sizeof signals / sizeof *signals; ++i)
    if (is(signals[i].name)) {
      if (signals[i].number == SIGSEGV)
        signal(SIGSEGV, SIG_DFL);
      raise(signals[i].number);
    }
  if (is("abort"))
    abort();
  if (is("exit0"))
    _exit(0);
  if (is("exit1"))
    exit(1);
  if (is("memory")) {
    const struct rlimit none = {1 << 20, 1 << 20};
    setrlimit(RLIMIT_AS, &none);
  }
  if (is("straggler"))
    sleep(6);
  if (is("launcher"))
    kill(getppid(), SIGKILL);
  if (is("reset"))
    reset_connections();
  if (is("flip") || is("drift") || is("nan"))
    change_state();
  corrupts = is("corrupt");
  diskIsFull = is("disk");
  armed =
      is("operation") || is("count") || is("dtype") || is("reduction") || is("swap") || is("skip");
}

static void at(enum moment now) {
  if (moment == now)
    act();
}

/* An earlier operation that announces another buffer, but is equal otherwise; null if none is. */
static const dpc_comm_op_t *find_other(const dpc_comm_op_t *op) {
  for (unsigned i = 0; i < operations && i < 64; ++i)
    if (earlier[i].op == op->op && earlier[i].family == op->family &&
        earlier[i].buffer_id != op->buffer_id)
      return &earlier[i];
  return NULL;
}

/* Changes an operation as the armed fault says. */
static dpc_comm_op_t change(dpc_comm_op_t op) {
  if (is("operation"))
    op.op = op.op == DPC_OP_ALL_REDUCE ? DPC_OP_BARRIER : DPC_OP_ALL_REDUCE;
  if (is("count"))
    op.count -= 1;
  if (is("dtype"))
    op.dtype = DPC_I32;
  if (is("reduction"))
    op.reduction = DPC_MAX;
  return op;
}

static int is_of_step(const dpc_comm_op_t *op) {
  return op->buffer_id != DPC_CONTROL_BUFFER && op->op == DPC_OP_ALL_REDUCE &&
         op->dtype == DPC_F32 && op->reduction == DPC_SUM && op->count > 1;
}

/* Whether a rank has begun to write a checkpoint. Some ranks have no part in it, and break
 * meanwhile. */
static int has_checkpoint(void) {
  DIR *folder = opendir(getenv("DPC_TEST_FAULT_FOLDER"));
  int found = 0;
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    found = found || strncmp(entry->d_name, ".making-", 8) == 0 ||
            strncmp(entry->d_name, "step-", 5) == 0;
  if (folder)
    closedir(folder);
  return found;
}

static dpc_status_t start(dpc_comm_t *comm, const dpc_comm_op_t *op, dpc_request_t *request) {
  dpc_comm_op_t what = *op;
  if (!is_of_step(op))
    return real.start(comm, op, request);
  const dpc_comm_op_t *other = find_other(op);
  if (armed && !(is("swap") && !other)) {
    armed = 0;
    if (is("skip")) {
      *request = DPC_NONE;
      return DPC_OK;
    }
    what = is("swap") ? *other : change(what);
  }
  if (operations < 64)
    earlier[operations] = *op;
  const int isNow = ++operations == kCollective;
  if (moment == CHECKPOINT && has_checkpoint())
    act();
  const dpc_status_t status = real.start(comm, &what, request);
  if (isNow)
    at(COLLECTIVE);
  return status;
}

/* Rank DPC_TEST_LATE_RANK takes the failure of the run for a failure of its own. */
static dpc_status_t wait_for(dpc_comm_t *comm, dpc_request_t request) {
  const char *late = getenv("DPC_TEST_LATE_RANK");
  const dpc_status_t status = request == DPC_NONE ? DPC_OK : real.wait(comm, request);
  if (status != DPC_PEER || !late || comm->rank != (uint32_t)atoi(late))
    return status;
  dpc_transport_find("late"); /* sets the message of the failure */
  return DPC_IO;
}

static void release(dpc_comm_t *comm) {
  at(END);
  real.release(comm);
}

dpc_status_t __real_dpc_comm_create(const char *name, const dpc_comm_options_t *options,
                                    dpc_comm_t **out);
dpc_status_t __wrap_dpc_comm_create(const char *name, const dpc_comm_options_t *options,
                                    dpc_comm_t **out) {
  if (moment == RENDEZVOUS && !is("reset") && !is("corrupt")) {
    usleep(300000); /* the others wait */
    act();
  }
  const dpc_status_t status = __real_dpc_comm_create(name, options, out);
  if (status == DPC_OK) {
    real = *(*out)->vtable;
    table = real;
    table.start = start;
    table.wait = wait_for;
    table.release = release;
    (*out)->vtable = &table;
  }
  return status;
}

/* These stand before those of the C library. */
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
  if (moment == RENDEZVOUS)
    act();
  if (corrupts && message->msg_iovlen) {
    corrupts = 0;
    ((char *)message->msg_iov[0].iov_base)[0] ^= 64;
  }
  return syscall(SYS_sendmsg, fd, message, flags);
}

static int refuses(int fd) {
  struct stat info;
  if (!diskIsFull || fstat(fd, &info) || !S_ISREG(info.st_mode))
    return 0;
  errno = ENOSPC;
  return 1;
}

ssize_t write(int fd, const void *from, size_t bytes) {
  return refuses(fd) ? -1 : syscall(SYS_write, fd, from, bytes);
}

ssize_t pwrite(int fd, const void *from, size_t bytes, off_t offset) {
  return refuses(fd) ? -1 : syscall(SYS_pwrite64, fd, from, bytes, offset);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off64_t offset) {
  return pwrite(fd, from, bytes, offset);
}

int fsync(int fd) {
  char link[40], path[4096] = {0};
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (moment == CHECKPOINT && readlink(link, path, sizeof path - 1) > 0 &&
      strstr(path, ".checkpoint/"))
    act();
  return refuses(fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

static const dpc_function_t *functions;
static int32_t call_function(uint32_t index, dpc_call_t *call) {
  bases = call->base;
  at(FIRST);
  return functions[index].fn(call);
}

/* One function per index, because a function of a program does not learn its own number. */
#define ONE(n)                                                                                     \
  static int32_t call_##n(dpc_call_t *call) { return call_function(n, call); }
/* clang-format off */
ONE(0) ONE(1) ONE(2) ONE(3) ONE(4) ONE(5) ONE(6) ONE(7)
ONE(8) ONE(9) ONE(10) ONE(11) ONE(12) ONE(13) ONE(14) ONE(15)
    /* clang-format on */
    static const dpc_fn_t kCalls[] = {call_0,  call_1,  call_2,  call_3, call_4,  call_5,
                                      call_6,  call_7,  call_8,  call_9, call_10, call_11,
                                      call_12, call_13, call_14, call_15};
enum { kWrapped = sizeof kCalls / sizeof *kCalls };

int main(int argc, char **argv) {
  const char *fault = getenv("DPC_TEST_FAULT");
  const char *rank = getenv("RANK")                   ? getenv("RANK")
                     : getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK")
                                                      : getenv("PMI_RANK");
  static dpc_program_t program;
  program = dpc_program;
  char when[20];
  unsigned victim;
  if (fault && rank && sscanf(fault, "%19[a-z0-9]:%u:%19[a-z]", kind, &victim, when) == 3 &&
      victim == (unsigned)atoi(rank)) {
    setenv("RANK", rank, 1);
    for (int m = 0; m < NEVER; ++m)
      if (strcmp(when, kMoments[m]) == 0)
        moment = (enum moment)m;
    static dpc_function_t wrapped[1 << 16];
    functions = program.functions;
    memcpy(wrapped, functions, program.function_count * sizeof *wrapped);
    for (uint32_t f = 0; f < program.function_count && f < kWrapped; ++f)
      wrapped[f].fn = kCalls[f];
    program.functions = wrapped;
    at(BEFORE);
  }
  return dpc_main(argc, argv, &program);
}

/* Stands in for the C library's fsync, rename and renameat2 in the test
 * programs, to see in which order files reach the disk and get their names.
 *
 * DPC_TEST_FILE_EVENTS=FILE appends a line for each call that succeeded:
 * "fsync PATH" or "rename FROM TO". DPC_TEST_DIE_AFTER_RENAME=NAME kills the
 * process right after something has got that last component of a path.
 * DPC_TEST_SLOW_FSYNC=PART, DPC_TEST_FULL_FSYNC=PART and
 * DPC_TEST_LOST_WRITE=PART are about paths with PART in them: fsync takes three
 * seconds, finds no space, or succeeds although the last byte is not there. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static void note(const char *event, const char *path, const char *other) {
  const char *file = getenv("DPC_TEST_FILE_EVENTS");
  char line[9000];
  if (!file)
    return;
  const int length = snprintf(line, sizeof line, "%s %s %s\n", event, path, other);
  const int fd = open(file, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0600);
  if (write(fd, line, (size_t)length) != length)
    abort();
  close(fd);
}

static void die_if_asked(const char *path) {
  const char *name = getenv("DPC_TEST_DIE_AFTER_RENAME"), *slash = strrchr(path, '/');
  if (name && !strcmp(name, slash ? slash + 1 : path))
    raise(SIGKILL);
}

static int is_about(const char *variable, const char *path) {
  const char *part = getenv(variable);
  return part && strstr(path, part);
}

int fsync(int fd) {
  char link[64], path[4096] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  if (readlink(link, path, sizeof path - 1) <= 0)
    path[0] = 0;
  if (is_about("DPC_TEST_SLOW_FSYNC", path))
    sleep(3);
  if (is_about("DPC_TEST_FULL_FSYNC", path)) {
    errno = ENOSPC;
    return -1;
  }
  if (is_about("DPC_TEST_LOST_WRITE", path)) {
    const off_t bytes = lseek(fd, 0, SEEK_END);
    if (bytes > 0 && pwrite(fd, "", 1, bytes - 1) != 1)
      abort();
  }
  const int result = (int)syscall(SYS_fsync, fd);
  if (result == 0 && path[0])
    note("fsync", path, "");
  return result;
}

int rename(const char *from, const char *to) {
  const int result = (int)syscall(SYS_rename, from, to);
  if (result == 0) {
    note("rename", from, to);
    die_if_asked(to);
  }
  return result;
}

int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags) {
  const int result = (int)syscall(SYS_renameat2, from_folder, from, to_folder, to, flags);
  if (result == 0)
    note("rename", from, to);
  return result;
}

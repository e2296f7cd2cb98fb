// Temporary folders that are removed when a compile ends, also if an interrupt ends it. If the
// compiler is killed, the next compile removes them.

#include "tools/dpc-compile/WorkFolder.h"

#include "processes/ChildProcess.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Signals.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

using namespace llvm;
using namespace dpc;

namespace {

/// The child that an interrupt must kill, and the folders that it must remove. A thread holds the
/// mutex while it changes them. A thread that moves several files holds the mutex too, because no
/// interrupt may come between two of these moves. The thread that cleans up locks the mutex and
/// never unlocks it, so that no other thread continues.
struct Work {
  std::mutex mutex;
  std::vector<std::string> folders;
  pid_t child = 0; ///< the leader of the child's process group; 0 for none
};

/// The only Work object. It outlives main. Its first use allocates nothing, because that use may
/// come when no memory is left.
Work &work() {
  alignas(Work) static char storage[sizeof(Work)];
  static Work &it = *new (storage) Work;
  return it;
}

std::error_code lastError() { return std::error_code(errno, std::generic_category()); }

/// Whether `path` still names the folder that is open as `descriptor`.
bool isSame(int descriptor, const char *path) {
  struct stat open, there;
  return ::fstat(descriptor, &open) == 0 && ::lstat(path, &there) == 0 &&
         open.st_dev == there.st_dev && open.st_ino == there.st_ino;
}

/// Removes the folders parent/prefix* of this user that no living process has
/// locked.
void removeLeftOvers(StringRef parent, StringRef prefix) {
  std::vector<std::string> found;
  std::error_code error;
  for (sys::fs::directory_iterator it(parent, error, false), end; it != end && !error;
       it.increment(error))
    if (sys::path::filename(it->path()).starts_with(prefix))
      found.push_back(it->path());
  for (const std::string &path : found) {
    int descriptor =
        ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (descriptor < 0)
      continue;
    struct stat info;
    if (::fstat(descriptor, &info) == 0 && info.st_uid == ::geteuid() &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && isSame(descriptor, path.c_str()))
      sys::fs::remove_directories(path);
    ::close(descriptor);
  }
}

/// Kills the processes of `group` and waits until all of them have ended.
void killChild(pid_t group) {
  if (group == 0)
    return;
  ::kill(-group, SIGKILL);
  while (::waitpid(-group, nullptr, 0) > 0 || errno == EINTR)
    ;
}

/// Returns the signals to wait for: SIGINT, SIGTERM and SIGHUP, except those that this process
/// already ignores, e.g. because nohup started it.
sigset_t interrupts() {
  sigset_t out;
  sigemptyset(&out);
  for (int signal : {SIGINT, SIGTERM, SIGHUP}) {
    struct sigaction before = {};
    if (::sigaction(signal, nullptr, &before) == 0 && before.sa_handler != SIG_IGN)
      sigaddset(&out, signal);
  }
  return out;
}

/// The thread that cleans up after an interrupt and then ends the process.
void *awaitInterrupt(void *) {
  const sigset_t signals = interrupts();
  int signal = SIGTERM;
  while (::sigwait(&signals, &signal) != 0)
    ;
  work().mutex.lock();
  killChild(work().child);
  for (const std::string &folder : work().folders)
    sys::fs::remove_directories(folder);
  sys::RunInterruptHandlers(); // removes files that LLVM has registered
  ::signal(signal, SIG_DFL);
  ::pthread_sigmask(SIG_UNBLOCK, &signals, nullptr);
  ::raise(signal);
  ::_exit(128 + signal);
}

/// Returns the environment of this process, with TMPDIR set to `folder`.
std::vector<std::string> environmentWith(StringRef folder) {
  std::vector<std::string> out;
  for (char **entry = environ; *entry; ++entry)
    if (!StringRef(*entry).starts_with("TMPDIR="))
      out.push_back(*entry);
  out.push_back(("TMPDIR=" + folder).str());
  return out;
}

std::vector<char *> pointersTo(std::vector<std::string> &texts) {
  std::vector<char *> out;
  for (std::string &text : texts)
    out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

} // namespace

void dpc::cleanUpOnInterrupt() {
  // The processes of a killed child become children of this process, so that it can wait for them.
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const sigset_t signals = interrupts();
  sigset_t before;
  ::pthread_sigmask(SIG_BLOCK, &signals, &before);
  pthread_t thread;
  // If there is no memory for a thread, an interrupt ends the process at once.
  // The next compile then removes its folders.
  if (::pthread_create(&thread, nullptr, awaitInterrupt, nullptr) == 0)
    ::pthread_detach(thread);
  else
    ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

std::error_code WorkFolder::create(StringRef parent, StringRef prefix) {
  std::string place = parent.empty() ? "." : parent.str();
  removeLeftOvers(place, prefix);
  std::lock_guard<std::mutex> guard(work().mutex);
  for (;;) {
    SmallString<128> pattern(place);
    sys::path::append(pattern, prefix + "XXXXXX");
    if (!::mkdtemp(const_cast<char *>(pattern.c_str())))
      return lastError();
    path = pattern.str().str();
    lock = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock < 0) {
      if (errno == ENOENT) // another compile removed the folder before it was opened
        continue;
      return lastError();
    }
    // On a file system without locks this fails, but then no compile removes the folder either.
    ::flock(lock, LOCK_EX);
    if (isSame(lock, path.c_str()))
      break;
    ::close(lock); // another compile removed the folder before it was locked
  }
  work().folders.push_back(path);
  return {};
}

WorkFolder::~WorkFolder() {
  if (path.empty())
    return;
  std::lock_guard<std::mutex> guard(work().mutex);
  sys::fs::remove_directories(path);
  llvm::erase(work().folders, path);
  if (lock >= 0)
    ::close(lock);
}

void dpc::removeWorkFolders() {
  // Listing the files of a folder allocates memory. This process has none left, but a new process
  // has some.
  for (const std::string &folder : work().folders) {
    const char *const argv[] = {"/bin/rm", "-rf", "--", folder.c_str(), nullptr};
    if (const pid_t child = startChild(const_cast<char *const *>(argv), environ, nullptr);
        child > 0)
      waitForChild(child);
  }
}

std::string WorkFolder::file(StringRef name) const {
  SmallString<128> out(path);
  sys::path::append(out, name);
  return out.str().str();
}

std::error_code dpc::moveIntoPlace(ArrayRef<std::pair<std::string, std::string>> files,
                                   std::string &failed) {
  std::lock_guard<std::mutex> guard(work().mutex);
  for (const auto &[from, to] : files)
    if (std::error_code error = sys::fs::rename(from, to)) {
      failed = to;
      return error;
    }
  return {};
}

int dpc::runInFolder(ArrayRef<std::string> command, const WorkFolder &folder, StringRef log) {
  std::vector<std::string> arguments(command.begin(), command.end()),
      environment = environmentWith(folder.getPath());
  std::vector<char *> argv = pointersTo(arguments), envp = pointersTo(environment);
  const std::string output = log.str();
  pid_t child;
  {
    std::lock_guard<std::mutex> guard(work().mutex);
    child = startChild(argv.data(), envp.data(), output.c_str());
    if (child < 0)
      return -1;
    work().child = child;
  }
  const int code = waitForChild(child);
  std::lock_guard<std::mutex> guard(work().mutex);
  work().child = 0;
  return code;
}

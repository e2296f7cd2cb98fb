// Runs a command as a user would, and keeps what it prints and how it ends.
#ifndef DPC_TEST_RUNTIME_RUNCOMMAND_H
#define DPC_TEST_RUNTIME_RUNCOMMAND_H

#include "test/runtime/ForkRanks.h"
#include "test/runtime/TestFiles.h"

#include <fcntl.h>

namespace dpc::test {

struct Outcome {
  int code;
  std::string text; ///< stdout and stderr
  double seconds;
};

/// Runs a command without a shell.
inline Outcome run(const std::vector<std::string> &command,
                   const std::vector<std::string> &environment = {},
                   const std::function<void(pid_t)> &meanwhile = {}) {
  TemporaryDirectory directory;
  const std::string output = directory.path + "/output";
  auto begin = std::chrono::steady_clock::now();
  pid_t pid = fork();
  if (pid == 0) {
    int fd = open(output.c_str(), O_CREAT | O_WRONLY | O_APPEND, 0600);
    dup2(fd, 1);
    dup2(fd, 2);
    for (const std::string &setting : environment)
      putenv(const_cast<char *>(setting.c_str()));
    std::vector<char *> argv;
    for (const std::string &argument : command)
      argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    alarm(50);
    execv(argv[0], argv.data());
    _exit(127);
  }
  if (meanwhile)
    meanwhile(pid);
  int status;
  waitpid(pid, &status, 0);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), readFile(output),
          std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count()};
}

} // namespace dpc::test

#endif // DPC_TEST_RUNTIME_RUNCOMMAND_H

// Which folders of Python packages are searched for NVIDIA's libraries. test/cuda/run has programs
// that open libraries from there.
#include "runtime/src/cuda/PackageFolders.h"
#include "test/runtime/ForkRanks.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace dpc::cuda;
using namespace dpc::test;

namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

class PackageFolders : public testing::Test {
protected:
  PackageFolders() {
    for (const char *name : {"VIRTUAL_ENV", "CONDA_PREFIX", "PATH", "HOME"}) {
      const char *value = std::getenv(name);
      before.emplace_back(name, value ? value : "");
      setenv(name, (folder.path + "/none").c_str(), 1);
    }
  }
  ~PackageFolders() override {
    for (const auto &[name, value] : before)
      setenv(name.c_str(), value.c_str(), 1);
  }
  /// An environment of Python in the folder `name`, with a file in `packages` of its packages.
  std::string make(const std::string &name, const std::string &packages,
                   const std::string &python = "lib/python3.11/site-packages") {
    const fs::path made = fs::path(folder.path) / name / python / packages;
    fs::create_directories(made.parent_path());
    std::ofstream(made) << "library";
    return made.parent_path().string();
  }
  Strings find() const { return findPackageFolders("nccl", "libnccl.so.2"); }

  const TemporaryDirectory folder;
  std::vector<std::pair<std::string, std::string>> before;
};

TEST_F(PackageFolders, HaveAnOrder) {
  const std::string library = "nvidia/nccl/lib/libnccl.so.2";
  EXPECT_EQ(find(), Strings());
  const std::string home = make(".local", library), conda = make("conda", library),
                    own = make("own", library),
                    system = make("usr", library, "lib/python3.9/dist-packages"),
                    later = make("usr", library, "lib/python3.12/dist-packages"),
                    toolkit = make("usr", "nvidia/cu13/lib/libnccl.so.2",
                                   "lib64/python3.12/site-packages");
  make("usr", "nvidia/cublas/lib/libnccl.so.2"); // of another package
  setenv("HOME", folder.path.c_str(), 1);
  EXPECT_EQ(find(), Strings({home}));
  // A virtual environment, whose python3 is a link.
  fs::create_directories(folder.path + "/usr/bin");
  fs::create_directories(folder.path + "/own/bin");
  std::ofstream(folder.path + "/usr/bin/python3.9") << "#!/bin/false\n";
  fs::permissions(folder.path + "/usr/bin/python3.9", fs::perms::owner_all);
  fs::create_symlink("python3.9", folder.path + "/usr/bin/python3");
  fs::create_symlink("../../usr/bin/python3", folder.path + "/own/bin/python3");
  setenv("PATH", (folder.path + "/nowhere:" + folder.path + "/own/bin").c_str(), 1);
  EXPECT_EQ(find(), Strings({own, later, system, toolkit, home}));
  setenv("CONDA_PREFIX", (folder.path + "/conda").c_str(), 1);
  setenv("VIRTUAL_ENV", (folder.path + "/usr").c_str(), 1);
  EXPECT_EQ(find(), Strings({later, system, toolkit, conda, own, home}));
}

} // namespace

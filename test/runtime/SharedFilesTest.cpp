// Ranks on two hosts that have other files, or another folder of checkpoints, under one path. Each
// rank stands for a host (--comm=sockets), and runs in a folder of its own.
#include "test/runtime/ProducedProgram.h"

#include <filesystem>
#include <set>

using namespace dpc::test;
namespace fs = std::filesystem;

namespace {

class SharedFiles : public ProducedProgram {
protected:
  SharedFiles() {
    for (const char *host : {"a", "b"}) {
      fs::create_directory(path(host));
      fs::copy(data, path(host) + "/data.npz");
    }
  }
  std::vector<RankResult> onTwoHosts(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"--comm=sockets", "--steps=4"});
    return byHand(
        [&](uint32_t rank) { return HandStarted{arguments, {}, path(rank ? "b" : "a")}; });
  }
  /// Expects that the run ends before its first step, and that rank `teller` tells why.
  void expectRefused(const std::vector<std::string> &arguments, uint32_t teller, int code,
                     const std::string &text) {
    const std::vector<RankResult> results = onTwoHosts(arguments);
    const RankResult &told = results[teller], &other = results[1 - teller];
    EXPECT_EQ(told.exitCode, code) << told.message;
    EXPECT_NE(told.message.find(text), std::string::npos) << told.message << "\nlacks " << text;
    EXPECT_EQ(other.exitCode, 3) << other.message;
    EXPECT_EQ(other.message, "");
    EXPECT_EQ(told.message.find("step 1"), std::string::npos) << told.message;
    EXPECT_EQ(std::count(told.message.begin(), told.message.end(), '\n'), 1) << told.message;
  }
  /// The names of the entries of a host's folder.
  std::set<std::string> entries(const char *host) {
    std::set<std::string> out;
    for (const fs::directory_entry &entry : fs::directory_iterator(path(host)))
      out.insert(entry.path().filename());
    return out;
  }
  std::string file(const char *host, const std::string &name) { return path(host) + "/" + name; }
  void writeParameters(const std::string &to, float first) {
    const float w[] = {first, 2, 3};
    const dpc_array_t array = {"fc.weight", DPC_F32, 1, {3}, w};
    ASSERT_EQ(dpc_safetensors_write(to.c_str(), &array, 1, nullptr, 0), DPC_OK);
  }
};

TEST_F(SharedFiles, EqualCopiesAreEnough) {
  for (const char *host : {"a", "b"})
    writeParameters(file(host, "p"), 1);
  for (const RankResult &result : onTwoHosts({"--data=data.npz", "--init-params=p"}))
    EXPECT_EQ(result.exitCode, 0) << result.message;
}

TEST_F(SharedFiles, DataThatAHostLacks) {
  fs::remove(file("b", "data.npz"));
  expectRefused({"--data=data.npz"}, 1, 5, "(rank 1) lacks the file data.npz, which host ");
  fs::rename(file("a", "data.npz"), file("b", "data.npz"));
  expectRefused({"--data=data.npz"}, 0, 5, "(rank 0) lacks the file data.npz, which host ");
  fs::copy(data, file("a", "part-1.npz"));
  fs::copy(data, file("a", "part-2.npz"));
  fs::copy(data, file("b", "part-1.npz"));
  expectRefused({"--data=part-*.npz"}, 1, 5, "(rank 1) lacks the file part-2.npz, which host ");
  fs::rename(file("a", "part-2.npz"), file("b", "part-2.npz"));
  expectRefused({"--data=part-*.npz"}, 0, 5, "(rank 0) lacks the file part-2.npz, which host ");
}

TEST_F(SharedFiles, DataThatNoHostHas) {
  for (const RankResult &result : onTwoHosts({"--data=none.npz"}))
    EXPECT_TRUE(result.exitCode == 5 || result.exitCode == 3) << result.message;
}

TEST_F(SharedFiles, DataOfAnotherVersion) {
  const std::string content = readFile(data);
  writeFile(file("b", "data.npz"), content + "x");
  expectRefused({"--data=data.npz"}, 1, 1,
                "(rank 1): data.npz has " + std::to_string(content.size() + 1) + " bytes, but " +
                    std::to_string(content.size()) + " on host ");
  std::string changed = content;
  changed[content.size() / 2] ^= 1;
  writeFile(file("b", "data.npz"), changed);
  expectRefused({"--data=data.npz"}, 1, 1, "(rank 1): data.npz has as many bytes as on host ");
  // The data for evaluation counts too.
  fs::copy(file("b", "data.npz"), file("b", "eval.npz"));
  fs::copy(data, file("a", "eval.npz"));
  expectRefused({"--data=" + data, "--eval-data=eval.npz"}, 1, 1,
                "(rank 1): eval.npz has as many bytes");
}

TEST_F(SharedFiles, ParametersOfAnotherVersion) {
  writeParameters(file("a", "p"), 1);
  writeParameters(file("b", "p"), 2);
  expectRefused({"--data=data.npz", "--init-params=p"}, 1, 1, "(rank 1): p has as many bytes");
  for (const char *host : {"a", "b"}) {
    fs::create_directory(file(host, "model"));
    fs::copy(file(host, "p"), file(host, "model/model.safetensors"));
  }
  expectRefused({"--data=data.npz", "--init-params=model"}, 1, 1,
                "(rank 1): model/model.safetensors has as many bytes");
}

TEST_F(SharedFiles, CheckpointToResumeFrom) {
  ASSERT_EQ(train(2, {"--steps=2", "--checkpoint=" + path("a/old")}).code, 0);
  fs::copy(path("a/old"), path("b/old"), fs::copy_options::recursive);
  const std::vector<std::string> resume = {"--data=data.npz", "--no-shuffle", "--resume=old",
                                           "--checkpoint=" + path("new")};
  for (const RankResult &result : onTwoHosts(resume))
    EXPECT_EQ(result.exitCode, 0) << result.message;
  fs::remove_all(path("new"));
  fs::remove(path("b/old/step-2/state-1.safetensors"));
  expectRefused(resume, 1, 5, "(rank 1) lacks the file old/step-2/state-1.safetensors");
  fs::remove_all(path("b/old"));
  expectRefused(resume, 1, 5, "(rank 1) lacks the file old/step-2/");
  // A damaged checkpoint is passed over if all hosts have it.
  fs::remove(path("a/old/step-2/manifest.json"));
  fs::copy(path("a/old"), path("b/old"), fs::copy_options::recursive);
  const std::vector<RankResult> results = onTwoHosts(resume);
  EXPECT_NE(results[0].message.find("no usable checkpoint"), std::string::npos)
      << results[0].message;
}

TEST_F(SharedFiles, TraceThatAHostCannotWrite) {
  fs::create_directory(file("a", "traces"));
  expectRefused({"--data=data.npz", "--trace=traces/t"}, 1, 5, "--trace: host ");
}

TEST_F(SharedFiles, FolderOfCheckpoints) {
  const std::set<std::string> before = entries("a");
  // Neither host has the folder yet.
  expectRefused({"--data=data.npz", "--checkpoint=run"}, 1, 5, "--checkpoint: run: host ");
  EXPECT_EQ(entries("a"), before);
  EXPECT_EQ(entries("b"), before);
  for (const char *host : {"a", "b"})
    fs::create_directory(file(host, "run"));
  expectRefused({"--data=data.npz", "--checkpoint=run"}, 1, 5, "(rank 1) does not see what host ");
  EXPECT_TRUE(fs::is_empty(file("a", "run")));
  EXPECT_TRUE(fs::is_empty(file("b", "run")));
  for (const RankResult &result : onTwoHosts({"--data=data.npz", "--checkpoint=" + path("run")}))
    EXPECT_EQ(result.exitCode, 0) << result.message;
  std::set<std::string> left;
  for (const fs::directory_entry &entry : fs::directory_iterator(path("run")))
    left.insert(entry.path().filename());
  EXPECT_EQ(left, std::set<std::string>{"step-4"});
  for (const fs::directory_entry &entry : fs::directory_iterator(directory.path))
    EXPECT_NE(entry.path().filename().string()[0], '.') << entry.path();
}

} // namespace

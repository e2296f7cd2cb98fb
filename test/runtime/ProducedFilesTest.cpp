// The files of a produced program: checkpoints, logs, and when they are on the
// disk.
#include "test/runtime/ProducedProgram.h"

#include <cstring>
#include <filesystem>

using namespace dpc::test;

namespace {

using ProducedFiles = ProducedProgram;

TEST_F(ProducedFiles, ResumesExactlyAlsoOnAnotherLayout) {
  ASSERT_EQ(train(2, {"--steps=10", "--log=" + path("whole"), "--save-params=" + path("p0")}).code,
            0);
  ASSERT_EQ(train(2, {"--steps=5", "--checkpoint=" + path("ck"), "--checkpoint-every=2",
                      "--log=" + path("first")})
                .code,
            0);
  EXPECT_FALSE(std::filesystem::exists(path("ck") + "/.making")); // and only steps 2, 4, 5
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}), 3);
  std::filesystem::copy(path("ck"), path("ck1"), std::filesystem::copy_options::recursive);
  Outcome outcome = train(2, {"--steps=10", "--resume", "--checkpoint=" + path("ck"),
                              "--log=" + path("second"), "--save-params=" + path("p1")});
  ASSERT_EQ(outcome.code, 0) << outcome.text;
  std::vector<double> joined = losses(path("first")), rest = losses(path("second"), 6);
  joined.insert(joined.end(), rest.begin(), rest.end());
  EXPECT_EQ(joined, losses(path("whole")));
  EXPECT_EQ(readFile(path("p0")), readFile(path("p1")));
  ASSERT_EQ(train(1, {"--steps=10", "--resume", "--checkpoint=" + path("ck1"),
                      "--save-params=" + path("p2")})
                .code,
            0);
  expectClose(weights(path("p2")), weights(path("p0")));
}

TEST_F(ProducedFiles, DamagedCheckpointFallsBackToTheOneBefore) {
  ASSERT_EQ(train(1, {"--steps=4", "--checkpoint=" + path("ck"), "--checkpoint-every=2"}).code, 0);
  std::string state = readFile(path("ck") + "/step-4/state-0.safetensors");
  state[state.size() - 3] ^= 1;
  writeFile(path("ck") + "/step-4/state-0.safetensors", state);
  Outcome outcome =
      train(1, {"--steps=5", "--resume", "--checkpoint=" + path("ck"), "--log=" + path("log")});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("damaged checkpoint"), std::string::npos) << outcome.text;
  EXPECT_EQ(losses(path("log"), 3).size(), 3u);
  for (const char *step : {"/step-2", "/step-4", "/step-5"})
    writeFile(path("ck") + step + "/manifest.json", "{");
  outcome = train(2, {"--steps=6", "--resume", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 1) << outcome.text;
}

TEST_F(ProducedFiles, CheckpointDirectoryOfAnotherRun) {
  ASSERT_EQ(train(1, {"--steps=1", "--checkpoint=" + path("ck")}).code, 0);
  Outcome outcome = train(1, {"--steps=1", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("--resume"), std::string::npos) << outcome.text;
  outcome = train(1, {"--steps=2", "--resume", "--seed=5", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("--seed=0"), std::string::npos) << outcome.text;
}

// A checkpoint is written while the steps go on: a run that is killed meanwhile
// has logged steps after it, and the one before is what there is.
TEST_F(ProducedFiles, StepsGoOnWhileACheckpointIsWritten) {
  ASSERT_EQ(train(2, {"--steps=1", "--checkpoint=" + path("ck")}).code, 0);
  const std::vector<std::string> arguments = {"--steps=1200", "--checkpoint=" + path("ck"),
                                              "--checkpoint-every=1000", "--resume",
                                              "--log=" + path("log")};
  EXPECT_EQ(train(2, arguments, {"DPC_TEST_SLOW_FSYNC=state-1", "DPC_TEST_FAULT=kill:0:1100"}).code,
            3);
  EXPECT_GE(losses(path("log"), 2).size(), 1090u);
  EXPECT_TRUE(std::filesystem::exists(path("ck") + "/step-1"));
  EXPECT_FALSE(std::filesystem::exists(path("ck") + "/step-1000"));
  const Outcome outcome = train(2, arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("resumed at step 1\n"), std::string::npos) << outcome.text;
  EXPECT_TRUE(std::filesystem::exists(path("ck") + "/step-1000"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}), 3); // and 1200
}

// A loss that is not finite ends the run, and not the checkpoint under way.
TEST_F(ProducedFiles, ACheckpointUnderWayOutlivesAnInfiniteLoss) {
  const Outcome outcome =
      train(2, {"--steps=1000", "--lr=1e30", "--checkpoint=" + path("ck"), "--checkpoint-every=4"},
            {"DPC_TEST_SLOW_FSYNC=state-1"});
  EXPECT_EQ(outcome.code, 4) << outcome.text;
  EXPECT_TRUE(std::filesystem::exists(path("ck") + "/step-4/manifest.json"));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}), 1);
}

// It gets its name when all ranks have written, without another save.
TEST_F(ProducedFiles, ACheckpointIsFinishedBetweenSteps) {
  EXPECT_EQ(train(2, {"--steps=100000000", "--checkpoint=" + path("ck"), "--checkpoint-every=5"},
                  {"DPC_TEST_DIE_AFTER_RENAME=step-5"})
                .code,
            3);
  EXPECT_TRUE(std::filesystem::exists(path("ck") + "/step-5/manifest.json"));
}

// The thread that writes tells of its failure as the rank would.
TEST_F(ProducedFiles, AFullDiskWhileStepsGoOn) {
  ASSERT_EQ(train(2, {"--steps=1", "--checkpoint=" + path("ck")}).code, 0);
  const Outcome outcome = train(
      2, {"--steps=100000000", "--checkpoint=" + path("ck"), "--resume", "--checkpoint-every=10"},
      {"DPC_TEST_FULL_FSYNC=state-1"});
  EXPECT_EQ(outcome.code, 5) << outcome.text;
  EXPECT_NE(outcome.text.find("state-1.safetensors: cannot be written: No space left"),
            std::string::npos)
      << outcome.text;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}), 1);
}

// Older checkpoints go when a newer one has been read back: here the disk loses a
// write of a rank's file, or of the manifest.
TEST_F(ProducedFiles, ACheckpointIsReadBack) {
  for (const char *file : {"state-1", "manifest"}) {
    const std::string folder = path("ck") + std::to_string(std::strlen(file));
    ASSERT_EQ(train(2, {"--steps=3", "--checkpoint=" + folder, "--checkpoint-every=1"}).code, 0);
    const Outcome outcome =
        train(2, {"--steps=9", "--checkpoint=" + folder, "--resume", "--checkpoint-every=1"},
              {std::string("DPC_TEST_LOST_WRITE=") + file});
    EXPECT_EQ(outcome.code, 5) << outcome.text;
    EXPECT_NE(outcome.text.find(file), std::string::npos) << outcome.text;
    EXPECT_NE(outcome.text.find(" back"), std::string::npos) << outcome.text;
    for (const char *step : {"/step-1", "/step-2", "/step-3"})
      EXPECT_TRUE(std::filesystem::exists(folder + step)) << file << step;
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 3) << file;
  }
}

// A run that goes on has the samples that it would have had.
TEST_F(ProducedFiles, ResumesWithTheSameOrderOfSamples) {
  auto go = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--data=" + data, "--checkpoint=" + path("ck")});
    return run(command(1, arguments));
  };
  ASSERT_EQ(go({"--steps=1"}).code, 0);
  Outcome outcome = go({"--steps=2", "--resume", "--no-shuffle"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.text.find("was written without --no-shuffle, this run has it"),
            std::string::npos)
      << outcome.text;
  EXPECT_EQ(go({"--steps=2", "--resume"}).code, 0);
  // Programs before this one did not say.
  const std::string file = path("ck") + "/step-2/manifest.json";
  std::string text = readFile(file);
  const std::string said = "\"order\":\"shuffled\",";
  ASSERT_NE(text.find(said), std::string::npos) << text;
  text.erase(text.find(said), said.size());
  writeFile(file, text);
  EXPECT_EQ(go({"--steps=3", "--resume", "--no-shuffle"}).code, 0);
  outcome = go({"--steps=4", "--resume"});
  EXPECT_EQ(outcome.code, 0) << outcome.text; // from step 2
  EXPECT_NE(outcome.text.find("was written with --no-shuffle, this run has it not"),
            std::string::npos)
      << outcome.text;
}

// A checkpoint has all parameters. With none there yet, or when dpc-run starts the
// run anew, --init-params is no contradiction.
TEST_F(ProducedFiles, InitParamsDoNotGoWithACheckpoint) {
  ASSERT_EQ(train(1, {"--steps=1", "--save-params=" + path("w")}).code, 0);
  const std::vector<std::string> both = {"--steps=4", "--resume", "--init-params=" + path("w"),
                                         "--checkpoint=" + path("ck"), "--checkpoint-every=1"};
  std::vector<std::string> anew = command(2, both);
  anew.push_back("--data=" + data);
  anew.push_back("--no-shuffle");
  anew.insert(anew.begin() + 1, "--max-restarts=1");
  Outcome outcome = run(anew, {"DPC_TEST_FAULT=kill:1:2"});
  EXPECT_EQ(outcome.code, 3) << outcome.text;
  EXPECT_NE(outcome.text.find("resumed at step "), std::string::npos) << outcome.text;
  outcome = train(2, both);
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("--resume and --init-params: the checkpoint in " + path("ck")),
            std::string::npos)
      << outcome.text;
}

// Another folder's checkpoint is the first of a new one, which from then on
// counts alone.
TEST_F(ProducedFiles, ResumesFromElsewhere) {
  ASSERT_EQ(train(2, {"--steps=4", "--checkpoint=" + path("old"), "--checkpoint-every=2"}).code, 0);
  const std::vector<std::string> on = {"--resume=" + path("old"), "--checkpoint=" + path("new"),
                                       "--checkpoint-every=1"};
  auto go = [&](const char *steps) {
    std::vector<std::string> arguments = on;
    arguments.push_back(steps);
    return train(1, arguments);
  };
  Outcome outcome = go("--steps=4");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_TRUE(std::filesystem::exists(path("new") + "/step-4"));
  outcome = go("--steps=7"); // old would be kept with more than three
  EXPECT_NE(outcome.text.find("resumed at step 4"), std::string::npos) << outcome.text;
  std::filesystem::remove_all(path("old"));
  outcome = go("--steps=8");
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("resumed at step 7"), std::string::npos) << outcome.text;
  outcome = train(1, {"--steps=9", "--resume=" + path("old"), "--checkpoint=" + path("third")});
  EXPECT_EQ(outcome.code, 1) << outcome.text;
  EXPECT_NE(outcome.text.find("holds no checkpoint"), std::string::npos) << outcome.text;
}

// Neither option takes a checkpoint itself: it takes the folder of several.
TEST_F(ProducedFiles, CheckpointInPlaceOfItsFolder) {
  ASSERT_EQ(train(2, {"--steps=4", "--checkpoint=" + path("ck")}).code, 0);
  const std::string step = path("ck") + "/step-4";
  for (const std::vector<std::string> &options :
       {std::vector<std::string>{"--resume=" + step, "--checkpoint=" + path("new")},
        {"--resume", "--checkpoint=" + step + "/"}}) {
    std::vector<std::string> arguments = options;
    arguments.push_back("--steps=5");
    const Outcome outcome = train(2, arguments);
    EXPECT_EQ(outcome.code, 1) << outcome.text;
    EXPECT_NE(
        outcome.text.find("is a checkpoint itself: the folder to name is " + path("ck") + ","),
        std::string::npos)
        << outcome.text;
  }
  const Outcome outcome = train(1, {"--steps=2", "--resume", "--checkpoint=" + path("ck")});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  EXPECT_NE(outcome.text.find("resumed at step 4: no step is left to train of --steps=2\n"),
            std::string::npos)
      << outcome.text;
}

// What can be known before the first step is said before it.
TEST_F(ProducedFiles, UnwritableOutputIsExit5) {
  for (const char *output : {"--save-params=/no/such/dir/p", "--log=/no/such/dir/log"}) {
    Outcome outcome = train(2, {"--steps=1", output});
    EXPECT_EQ(outcome.code, 5) << outcome.text;
    EXPECT_EQ(outcome.text.find("step"), std::string::npos) << outcome.text;
  }
  EXPECT_EQ(train(2, {"--steps=1", "--save-params=/dev/full"}).code, 5);
  EXPECT_EQ(train(2, {"--steps=1", "--log=/dev/full"}).code, 5);
}

TEST_F(ProducedFiles, RestartGoesOnFromTheCheckpoint) {
  ASSERT_EQ(train(2, {"--steps=20", "--save-params=" + path("whole")}).code, 0);
  Outcome outcome =
      run({DPC_RUN, "-n", "2", "--max-restarts=2", LINEAR_2, "--data=" + data, "--no-shuffle",
           "--steps=20", "--checkpoint=" + path("ck"), "--checkpoint-every=4",
           "--log=" + path("log"), "--save-params=" + path("p")},
          {"DPC_TEST_FAULT=kill:0:14", "DPC_TEST_FAULT_ONCE=" + path("once")});
  EXPECT_EQ(outcome.code, 0) << outcome.text;
  // That of step 12 may be under way still; then the one before was finished.
  EXPECT_TRUE(outcome.text.find("resumed at step 8\n") != std::string::npos ||
              outcome.text.find("resumed at step 12\n") != std::string::npos)
      << outcome.text;
  EXPECT_EQ(losses(path("log")).size(), 20u); // once each
  EXPECT_EQ(readFile(path("p")), readFile(path("whole")));
}

// As often as was allowed, not once less: then the cause is the run's end.
TEST_F(ProducedFiles, RestartsAreCounted) {
  for (int restarts : {0, 1, 2}) {
    Outcome outcome = run({DPC_RUN, "-n", "2", "--max-restarts=" + std::to_string(restarts),
                           LINEAR_2, "--data=" + data, "--steps=4"},
                          {"DPC_TEST_FAULT=kill:0:2"});
    EXPECT_EQ(outcome.code, 3) << outcome.text;
    int starts = 1;
    for (size_t at = 0; (at = outcome.text.find("; start ", at)) != std::string::npos; ++at)
      ++starts;
    EXPECT_EQ(starts, restarts + 1) << outcome.text;
  }
}

// A file is on the disk before it gets its name, a folder after all that is in
// it, and the name itself is there before anything is built on it.
TEST_F(ProducedFiles, NamesFollowWhatTheyName) {
  ASSERT_EQ(train(2,
                  {"--steps=6", "--checkpoint=" + path("ck"), "--checkpoint-every=1",
                   "--log=" + path("log"), "--save-params=" + path("p")},
                  {"DPC_TEST_FILE_EVENTS=" + path("events")})
                .code,
            0);
  struct Event {
    std::string kind, path, other;
  };
  std::vector<Event> events;
  std::ifstream file(path("events"));
  for (std::string line; std::getline(file, line);) {
    events.emplace_back();
    std::istringstream(line) >> events.back().kind >> events.back().path >> events.back().other;
  }
  auto folderOf = [](const std::string &path) { return path.substr(0, path.rfind('/')); };
  auto isSynced = [&](const std::string &path, size_t begin, size_t end) {
    return std::any_of(
        events.begin() + std::ptrdiff_t(begin), events.begin() + std::ptrdiff_t(end),
        [&](const Event &event) { return event.kind == "fsync" && event.path == path; });
  };
  int checkpoints = 0, files = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto &[kind, from, to] = events[i];
    if (kind != "rename" || from.find(".tmp") == std::string::npos)
      continue;
    EXPECT_TRUE(isSynced(from, 0, i)) << from;
    EXPECT_TRUE(isSynced(folderOf(to), i, events.size())) << to;
    ++files;
  }
  size_t before = 0;
  for (size_t i = 0; i < events.size(); ++i) {
    const auto &[kind, from, to] = events[i];
    if (kind != "rename" || folderOf(to) != path("ck") || to.find("/step-") == std::string::npos)
      continue;
    // The last rename in the folder, then the folder, then its name.
    size_t inside = before;
    for (size_t j = before; j < i; ++j)
      if (events[j].kind == "rename" && folderOf(events[j].other) == from)
        inside = j;
    EXPECT_GT(inside, before);
    EXPECT_TRUE(isSynced(from, inside, i)) << from;
    // The log once for each checkpoint that has begun: before this one's pieces.
    EXPECT_GT(std::count_if(events.begin(), events.begin() + std::ptrdiff_t(i),
                            [&](const Event &event) {
                              return event.kind == "fsync" && event.path == path("log");
                            }),
              checkpoints)
        << "the log, for " << to;
    // The next step is not begun on a name that may be lost.
    size_t next = i + 1;
    while (next < events.size() && events[next].kind != "rename")
      ++next;
    EXPECT_TRUE(isSynced(path("ck"), i, next)) << to;
    before = i;
    ++checkpoints;
  }
  EXPECT_EQ(checkpoints, 6);
  EXPECT_EQ(files, 3 * checkpoints + 1); // of both ranks, and the parameters
  // The directory of the checkpoints is new: its own name counts, too.
  EXPECT_TRUE(isSynced(directory.path, 0, 2));
}

// Death at the moment at which a checkpoint gets its name: its step is in the
// log already, once.
TEST_F(ProducedFiles, DeathRightAfterACheckpoint) {
  const std::vector<std::string> arguments = {"--steps=9", "--checkpoint=" + path("ck"),
                                              "--checkpoint-every=2", "--log=" + path("log"),
                                              "--resume"};
  EXPECT_EQ(train(2, arguments, {"DPC_TEST_DIE_AFTER_RENAME=step-4"}).code, 3);
  EXPECT_GE(losses(path("log")).size(), 4u);
  EXPECT_EQ(train(2, arguments, {"DPC_TEST_DIE_AFTER_RENAME=step-6"}).code, 3);
  EXPECT_EQ(train(2, arguments).code, 0);
  EXPECT_EQ(losses(path("log")).size(), 9u);
}

TEST_F(ProducedFiles, InterruptWritesACheckpoint) {
  Outcome outcome =
      run(command(2, {"--data=" + data, "--steps=100000000", "--checkpoint=" + path("ck")}), {},
          [](pid_t pid) {
            usleep(500000);
            kill(pid, SIGINT);
          });
  EXPECT_EQ(outcome.code, 130) << outcome.text;
  EXPECT_NE(outcome.text.find("checkpoint written"), std::string::npos) << outcome.text;
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(path("ck")), {}), 1);
}

} // namespace

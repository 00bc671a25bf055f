#include "run/run_directory.h"

#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "core/json.h"
#include "run/build_info.h"
#include "run/layout.h"
#include "run/manifest.h"
#include "tests/run/run_testing.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

class RunDirectoryTest : public RunFolderTest {
 protected:
  Json manifest() const { return Json::parse(bytes_of_file(out_ / "manifest.json")); }
};

TEST_F(RunDirectoryTest, new_folder_gets_configuration_and_manifest) {
  const RunIdentity identity = small_identity({"pe.sigma=0.3"});
  const RunDirectory run = open(identity);
  EXPECT_FALSE(run.resumed());
  EXPECT_TRUE(run.warnings().empty());
  EXPECT_EQ(bytes_of_file(out_ / "config.toml"), to_toml(identity.config));
  const Json m = manifest();
  for (const char* key : {"format", "config_hash", "data_hash", "signature", "version", "commit", "compiler", "isa", "host",
                          "cpu", "threads", "command", "started", "study", "data", "preprocessing", "parameters"}) {
    EXPECT_TRUE(m.contains(key)) << key;
  }
  EXPECT_EQ(m["config_hash"], identity.hashes.current);
  EXPECT_EQ(m["parameters"][0]["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(m["version"], build_info().version);
  EXPECT_FALSE(host_info().cpu.empty());
}

TEST_F(RunDirectoryTest, same_configuration_resumes_and_keeps_history) {
  { open(small_identity()); }
  RunIdentity longer = small_identity({"stop.epochs=999", "watch.checkpoint_every=3"});
  longer.command = "locus train a.toml stop.epochs=999";
  RunDirectory run = open(longer);
  EXPECT_TRUE(run.resumed());
  EXPECT_TRUE(run.warnings().empty()) << joined(run.warnings());
  EXPECT_EQ(manifest()["resumed"].size(), 0U) << "opening alone changes nothing";
  run.begin(0, true);
  const Json m = manifest();
  EXPECT_EQ(m["command"], "locus train a.toml");
  ASSERT_EQ(m["resumed"].size(), 1U);
  EXPECT_EQ(m["resumed"][0]["command"], longer.command);
  EXPECT_EQ(bytes_of_file(out_ / "config.toml"), to_toml(longer.config));
}

TEST_F(RunDirectoryTest, another_configuration_is_refused_with_the_keys_that_differ) {
  { open(small_identity()); }
  const std::string before = bytes_of_file(out_ / "manifest.json");
  const RunIdentity other = small_identity({"pe.sigma=0.4", "seed=7", "stop.epochs=3"});
  for (const auto& attempt : {std::function<void()>([&] { open(other); }),
                              std::function<void()>([&] { RunDirectory::probe(out_, other.config); })}) {
    const std::string message = message_of<ConfigError>(attempt);
    EXPECT_TRUE(contains(message, "pe.sigma = 0.4 (there: 0.2)")) << message;
    EXPECT_TRUE(contains(message, "seed = 7 (there: 0)")) << message;
    EXPECT_FALSE(contains(message, "stop.epochs")) << message;
    EXPECT_TRUE(contains(message, "--out")) << message;
  }
  EXPECT_EQ(bytes_of_file(out_ / "manifest.json"), before);
  EXPECT_FALSE(fs::exists(out_ / "lock"));
}

TEST_F(RunDirectoryTest, other_data_are_refused) {
  { open(small_identity()); }
  const std::string message = message_of<ConfigError>([&] { open(small_identity({}, "d1")); });
  EXPECT_TRUE(contains(message, "other data")) << message;
  EXPECT_TRUE(contains(message, "d1 (there: d0)")) << message;
}

TEST_F(RunDirectoryTest, another_signature_is_a_warning) {
  { open(small_identity()); }
  RunIdentity identity = small_identity();
  identity.signature = {"s1", ""};
  EXPECT_TRUE(contains(joined(open(identity).warnings()), "s1"));
}

TEST_F(RunDirectoryTest, a_run_of_version_1_goes_on_under_its_own_hash) {
  RunIdentity old = small_identity();
  old.hashes = {old.hashes.version1, ""};
  old.signature = {"old", ""};
  {
    RunDirectory run = open(old);
    save(run, 10);
  }
  RunIdentity now = small_identity();
  now.signature = {"s0", "old"};
  {
    RunDirectory run = open(now);
    EXPECT_TRUE(run.warnings().empty()) << joined(run.warnings());
    EXPECT_TRUE(run.load_latest_checkpoint().checkpoint);
    Summary ended;
    ended.steps = 10;
    run.write_summary(ended);
    EXPECT_EQ(Json::parse(bytes_of_file(out_ / "summary.json"))["config_hash"], now.hashes.version1);
  }
  EXPECT_EQ(manifest()["config_hash"], now.hashes.version1);
  put_file(out_ / "manifest.json", "");
  EXPECT_TRUE(open(now).load_latest_checkpoint().checkpoint) << "the manifest is new, the checkpoint is old";
  EXPECT_THROW(open(small_identity({"seed=1"})), ConfigError);
}

TEST_F(RunDirectoryTest, folder_with_other_things_is_refused_untouched) {
  fs::create_directories(out_);
  put_file(out_ / "thesis.txt", "years of work");
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { open(small_identity()); }), "thesis.txt"));
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { RunDirectory::probe(out_, RunConfig{}); }), "thesis.txt"));
  EXPECT_EQ(names_in(out_), (std::vector<std::string>{"thesis.txt"}));
  fs::rename(out_ / "thesis.txt", out_ / "config.toml");
  EXPECT_THROW(open(small_identity()), ConfigError) << "a user's own config.toml";
  EXPECT_EQ(bytes_of_file(out_ / "config.toml"), "years of work");
  fs::remove_all(out_);
  put_file(out_, "a file");
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { open(small_identity()); }), "not a folder"));
}

TEST_F(RunDirectoryTest, empty_folder_and_one_killed_before_its_manifest_are_taken) {
  fs::create_directories(out_);
  put_file(out_ / "lock", "pid 1 on elsewhere\n");
  put_file(out_ / "config.toml", "half a li");
  put_file(out_ / ".manifest.json.tmp-1-0", "{");
  EXPECT_FALSE(open(small_identity()).resumed());
  EXPECT_EQ(bytes_of_file(out_ / "config.toml"), to_toml(RunConfig{}));
}

TEST_F(RunDirectoryTest, one_damaged_identity_file_is_written_anew_two_are_refused) {
  { open(small_identity()); }
  const std::string config = bytes_of_file(out_ / "config.toml");
  put_file(out_ / "manifest.json", "{\"format\": 1, \"conf");
  const auto warnings = [&] {
    RunDirectory run = open(small_identity());
    run.begin(0, true);
    return joined(run.warnings());
  };
  EXPECT_TRUE(contains(warnings(), "manifest.json"));
  EXPECT_EQ(manifest()["config_hash"], small_identity().hashes.current);
  put_file(out_ / "config.toml", "pe = [[");
  EXPECT_TRUE(contains(warnings(), "config.toml"));
  EXPECT_EQ(bytes_of_file(out_ / "config.toml"), config);
  put_file(out_ / "config.toml", "pe = [[");
  EXPECT_THROW(open(small_identity({"seed=1"})), ConfigError);
  put_file(out_ / "manifest.json", "");
  EXPECT_TRUE(contains(message_of<ConfigError>([&] { open(small_identity()); }), "damaged run"));
}

TEST_F(RunDirectoryTest, second_process_is_told_who_trains) {
  std::optional<RunDirectory> first(open(small_identity()));
  const std::string message = message_of<IoError>([&] { open(small_identity()); });
  EXPECT_TRUE(contains(message, "another process trains here (pid " + std::to_string(::getpid()) + " on ")) << message;
  EXPECT_TRUE(is_locked(out_ / "lock"));
  first.reset();
  EXPECT_FALSE(fs::exists(out_ / "lock"));
  EXPECT_TRUE(open(small_identity()).resumed());
}

TEST_F(RunDirectoryTest, lock_goes_with_a_killed_process) {
  int ready[2];
  ASSERT_EQ(::pipe(ready), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    const RunDirectory run = open(small_identity());
    if (::write(ready[1], "x", 1) == 1) ::pause();
    ::_exit(1);
  }
  ::close(ready[1]);
  char byte = 0;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  ::close(ready[0]);
  EXPECT_TRUE(contains(message_of<IoError>([&] { open(small_identity()); }), "pid " + std::to_string(child)));
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(out_ / "lock"));
  EXPECT_TRUE(open(small_identity()).resumed());
}

TEST_F(RunDirectoryTest, too_little_space_is_said_before_anything_is_made) {
  const RunOptions options = {.disk_bytes = std::uint64_t{1} << 60};
  for (const auto& attempt :
       {std::function<void()>([&] { RunDirectory::open_for_training(out_ / "deep", small_identity(), options); }),
        std::function<void()>([&] { RunDirectory::probe(out_ / "deep", RunConfig{}, options); })}) {
    EXPECT_TRUE(contains(message_of<IoError>(attempt), "not enough disk space"));
  }
  EXPECT_FALSE(fs::exists(out_));
}

TEST_F(RunDirectoryTest, probe_leaves_nothing_behind) {
  RunDirectory::probe(out_ / "a/b", RunConfig{}, {.disk_bytes = 1000});
  EXPECT_TRUE(names_in(root_).empty());
}

// Without root's rights for its lifetime, so that modes of folders count.
class AsNobody {
 public:
  AsNobody() : was_root_(::geteuid() == 0) { changed_ = !was_root_ || ::seteuid(65534) == 0; }
  ~AsNobody() {
    if (was_root_ && changed_ && ::seteuid(0) != 0) std::abort();
  }
  AsNobody(const AsNobody&) = delete;
  AsNobody& operator=(const AsNobody&) = delete;
  bool works() const { return changed_; }

 private:
  bool was_root_;
  bool changed_ = false;
};

TEST_F(RunDirectoryTest, read_only_folder_is_reported_at_once) {
  fs::create_directories(out_);
  fs::permissions(out_, fs::perms::owner_read | fs::perms::owner_exec | fs::perms::others_read | fs::perms::others_exec);
  {
    const AsNobody nobody;
    if (!nobody.works()) GTEST_SKIP() << "cannot give up root's rights here";
    for (const fs::path& path : {out_, out_ / "below"}) {
      const std::string message = message_of<IoError>([&] { RunDirectory::open_for_training(path, small_identity()); });
      EXPECT_TRUE(contains(message, "ermission")) << message;
      EXPECT_TRUE(contains(message_of<IoError>([&] { RunDirectory::probe(path, RunConfig{}); }), "ermission"));
    }
  }
  fs::permissions(out_, fs::perms::owner_all);
  EXPECT_TRUE(names_in(out_).empty());
}

// A file system of 256 kB at `path`, where the system allows it.
class TinyDisk {
 public:
  explicit TinyDisk(fs::path path) : path_(std::move(path)) {
    fs::create_directories(path_);
    mounted_ = ::mount("tmpfs", path_.c_str(), "tmpfs", 0, "size=256k") == 0;
  }
  ~TinyDisk() {
    if (mounted_) ::umount2(path_.c_str(), MNT_DETACH);
  }
  TinyDisk(const TinyDisk&) = delete;
  TinyDisk& operator=(const TinyDisk&) = delete;
  bool works() const { return mounted_; }
  void fill() const {
    std::ofstream out(path_ / "filler", std::ios::binary);
    const std::string block(4096, 'x');
    while (out.write(block.data(), static_cast<std::streamsize>(block.size())).flush()) {
    }
  }

 private:
  fs::path path_;
  bool mounted_ = false;
};

TEST_F(RunDirectoryTest, full_disk_keeps_the_last_checkpoint_and_the_run_goes_on_later) {
  const TinyDisk disk(root_ / "disk");
  if (!disk.works()) GTEST_SKIP() << "mounting a small tmpfs needs root";
  const fs::path out = root_ / "disk/out";
  {
    RunDirectory run = RunDirectory::open_for_training(out, small_identity());
    run.append_metrics({1, 10, 0, 0, 0, {{"train.loss", 1}}});
    save(run, 10);
    disk.fill();
    const std::string message = message_of<IoError>([&] { save(run, 20); });
    EXPECT_TRUE(contains(message, "No space left")) << message;
    EXPECT_TRUE(contains(message, "full")) << message;
    EXPECT_EQ(names_in(out / "checkpoints"), (std::vector<std::string>{checkpoint_name(10)}));
    EXPECT_EQ(run.load_latest_checkpoint().checkpoint->step, 10);
    // Metrics have room in their last page for a while, then fail without half a line.
    bool failed = false;
    for (int e = 2; e < 200 && !failed; ++e) {
      failed = contains(message_of<IoError>([&] {
                          run.append_metrics({e, e * 10, 0, 0, 0, {{"train.loss", 1}}});
                        }),
                        "space");
    }
    EXPECT_TRUE(failed);
    EXPECT_EQ(bytes_of_file(out / "metrics.jsonl").back(), '\n');
    EXPECT_EQ(bytes_of_file(out / "metrics.csv").back(), '\n');
  }
  EXPECT_TRUE(contains(message_of<IoError>([&] { RunDirectory::open_for_training(out, small_identity()).begin(0, true); }),
                       "space"));
  fs::remove(root_ / "disk/filler");
  RunDirectory run = RunDirectory::open_for_training(out, small_identity());
  EXPECT_TRUE(run.resumed());
  run.truncate_metrics(run.load_latest_checkpoint().checkpoint->metrics);
  save(run, 20);
  EXPECT_EQ(run.load_latest_checkpoint().checkpoint->step, 20);
}

TEST_F(RunDirectoryTest, full_disk_at_the_start_leaves_no_half_made_run) {
  const TinyDisk disk(root_ / "disk");
  if (!disk.works()) GTEST_SKIP() << "mounting a small tmpfs needs root";
  disk.fill();
  EXPECT_THROW(RunDirectory::open_for_training(root_ / "disk/a/out/", small_identity()), IoError);
  // Room for the proof that the folder takes files, none for configuration and manifest.
  fs::resize_file(root_ / "disk/filler", fs::file_size(root_ / "disk/filler") - 4096);
  EXPECT_THROW(RunDirectory::open_for_training(root_ / "disk/a/out", small_identity()), IoError);
  EXPECT_EQ(names_in(root_ / "disk"), (std::vector<std::string>{"filler"}));
}

MetricRow row_of_step(std::int64_t step) { return {step, step, 0, 0, 0, {{"train.loss", 1.0 / static_cast<double>(step)}}}; }

// Goes on from the newest checkpoint for ever and tells each step that is saved; exits when something is amiss.
[[noreturn]] void save_for_ever(const fs::path& out, int tell) {
  RunDirectory run = RunDirectory::open_for_training(out, small_identity());
  const CheckpointSearch found = run.load_latest_checkpoint();
  if (!found.warnings.empty()) ::_exit(3);
  run.truncate_metrics(found.checkpoint ? found.checkpoint->metrics : MetricsPosition{});
  for (std::int64_t step = found.checkpoint ? found.checkpoint->step + 1 : 1;; ++step) {
    run.append_metrics(row_of_step(step));
    save(run, step);
    if (::write(tell, &step, sizeof step) != sizeof step) ::_exit(4);
  }
}

TEST_F(RunDirectoryTest, killed_at_any_moment_of_saving_leaves_a_usable_run) {
  std::int64_t told = 0;
  for (int round = 0; round < 12; ++round) {
    int pipe_ends[2];
    ASSERT_EQ(::pipe(pipe_ends), 0);
    const pid_t child = ::fork();
    if (child == 0) save_for_ever(out_, pipe_ends[1]);
    ::close(pipe_ends[1]);
    const std::int64_t before = told;
    ASSERT_EQ(::read(pipe_ends[0], &told, sizeof told), static_cast<ssize_t>(sizeof told)) << "round " << round;
    EXPECT_TRUE(told == before + 1 || told == before + 2) << told << " after " << before << ": a saved step was lost";
    ::usleep(static_cast<useconds_t>(3989 * round));
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    while (::read(pipe_ends[0], &told, sizeof told) == static_cast<ssize_t>(sizeof told)) {
    }
    ::close(pipe_ends[0]);
  }
  RunDirectory run = open(small_identity());
  const CheckpointSearch found = run.load_latest_checkpoint();
  EXPECT_TRUE(found.warnings.empty()) << joined(found.warnings);
  ASSERT_TRUE(found.checkpoint.has_value());
  const std::int64_t last = found.checkpoint->step;
  EXPECT_GE(last, told);
  run.truncate_metrics(found.checkpoint->metrics);
  std::string expected(kMetricsCsvHeader);
  for (std::int64_t step = 1; step <= last; ++step) expected += metrics_csv_lines(row_of_step(step));
  EXPECT_EQ(bytes_of_file(out_ / "metrics.csv"), expected);
}

TEST_F(RunDirectoryTest, log_has_times_and_survives_resuming) {
  { open(small_identity()).log("first\nsecond"); }
  open(small_identity()).log("third\n");
  const std::string log = bytes_of_file(out_ / "log.txt");
  EXPECT_EQ(std::count(log.begin(), log.end(), '\n'), 3);
  EXPECT_EQ(log.substr(19, 8), "Z first\n") << log;
  EXPECT_TRUE(contains(log, "Z third\n"));
}

TEST_F(RunDirectoryTest, summary_of_an_earlier_end_goes_when_the_run_goes_on) {
  {
    RunDirectory run = open(small_identity());
    run.write_summary({.status = RunStatus::kFinished, .reason = "epochs", .epochs = 1, .steps = 10, .seconds = 2});
  }
  {
    RunDirectory run = open(small_identity());
    EXPECT_TRUE(fs::exists(out_ / "summary.json")) << "opening alone changes nothing";
    run.append_metrics({2, 20, 0, 0, 0, {{"train.loss", 1}}});
  }
  EXPECT_FALSE(fs::exists(out_ / "summary.json"));
}

TEST_F(RunDirectoryTest, predictions_appear_when_finished_only) {
  const RunDirectory run = open(small_identity());
  {
    PredictionsWriter writer(run.predictions_path(), PredictionKind::kClassification);
    writer.add({"heldout", 0, "binary", 3, 1, 1});
  }
  EXPECT_FALSE(fs::exists(run.predictions_path()));
  {
    PredictionsWriter writer(run.predictions_path(), PredictionKind::kClassification);
    for (int i = 0; i < 5000; ++i) writer.add({"heldout", i, "binary", 3, 1, i % 4});
    writer.finish();
  }
  const std::string text = bytes_of_file(run.predictions_path());
  EXPECT_TRUE(
      text.starts_with("split,index,condition,cluster,label,predicted,correct\nheldout,0,binary,3,1,0,0\n"
                       "heldout,1,binary,3,1,1,1\n"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5001);
  PredictionsWriter regression(run.predictions_path(), PredictionKind::kRegression);
  regression.add("test", "left V1, upper", 0.1);
  regression.finish();
  EXPECT_EQ(bytes_of_file(run.predictions_path()), "split,token,mse\ntest,\"left V1, upper\",0.1\n");
  for (const std::string& name : names_in(out_)) EXPECT_FALSE(is_temporary_name(name)) << name;
}

TEST_F(RunDirectoryTest, dataset_reads_back) {
  TokenInfo info;
  info.names = {"a", "b \"quoted\""};
  info.label_names = {"visual"};
  info.labels = {0, -1};
  info.coordinates = MatrixD(2, 3);
  info.coordinates(1, 2) = 0.1;
  info.truths["W"] = MatrixD(2, 2);
  info.truths["W"](0, 1) = -3;
  info.symmetries = {{1, 0}};
  RunDirectory run = open(small_identity());
  run.write_dataset(info);
  const TokenInfo back = read_dataset_info(out_ / "dataset.safetensors");
  EXPECT_EQ(back.names, info.names);
  EXPECT_EQ(back.label_names, info.label_names);
  EXPECT_EQ(back.labels, info.labels);
  EXPECT_EQ(back.coordinates, info.coordinates);
  EXPECT_EQ(back.truths, info.truths);
  EXPECT_EQ(back.graph.rows(), 0);
  EXPECT_FALSE(back.coordinates_are_grid);
  EXPECT_EQ(back.symmetries, info.symmetries);
}

TEST_F(RunDirectoryTest, whether_coordinates_are_a_grid_is_stored_and_judged_only_where_it_is_not) {
  TokenInfo info;
  info.coordinates = MatrixD(4, 2);
  for (std::int64_t t = 0; t < 4; ++t) {
    info.coordinates(t, 0) = static_cast<double>(t / 2);
    info.coordinates(t, 1) = static_cast<double>(t % 2);
  }
  const fs::path file = out_.parent_path() / "tokens.safetensors";
  for (const bool grid : {true, false}) {  // places that fill a square may still be no grid: the data decides
    info.coordinates_are_grid = grid;
    write_dataset_info(file, info);
    EXPECT_EQ(read_dataset_info(file).coordinates_are_grid, grid);
  }
  for (const double last : {1.0, 2.0}) {  // as files were written before: without the flag
    info.coordinates(3, 1) = last;
    write_safetensors(file, std::vector<TensorView>{tensor_view<double>("coordinates", {4, 2}, info.coordinates.values())});
    EXPECT_EQ(read_dataset_info(file).coordinates_are_grid, last == 1.0);
  }
  EXPECT_TRUE(
      read_dataset_info(fs::path(test::source_dir()) / "tests/golden/runs/v1/lst/dataset.safetensors").coordinates_are_grid);
  EXPECT_FALSE(read_dataset_info(fs::path(test::source_dir()) / "tests/golden/runs/v1/nmar/dataset.safetensors")
                   .coordinates_are_grid);
}

}  // namespace
}  // namespace locus

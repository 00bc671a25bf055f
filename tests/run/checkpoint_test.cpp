#include "run/checkpoint.h"

#include "io/file.h"
#include "run/layout.h"
#include "tests/run/run_testing.h"

namespace locus {
namespace {

class CheckpointTest : public RunFolderTest {
 protected:
  fs::path checkpoints() const { return out_ / "checkpoints"; }
  fs::path checkpoint(std::int64_t step) const { return checkpoints() / checkpoint_name(step); }

  // Two checkpoints, of steps 10 and 20.
  void make_two() const {
    RunDirectory run = open(small_identity());
    run.append_metrics({1, 10, 0, 0, 0, {{"train.loss", 1}}});
    save(run, 10);
    run.append_metrics({2, 20, 0, 0, 0, {{"train.loss", 0.5}}});
    save(run, 20);
  }
  CheckpointSearch search() const {
    RunDirectory run = open(small_identity());
    return run.load_latest_checkpoint();
  }
  void expect_fall_back(const std::string& what) const {
    const CheckpointSearch found = search();
    ASSERT_TRUE(found.checkpoint.has_value()) << what;
    EXPECT_EQ(found.checkpoint->step, 10) << what;
    EXPECT_EQ(found.checkpoint->model.tensors.at("head.weight").as<float>()[0], 10) << what;
    ASSERT_EQ(found.warnings.size(), 2U) << what;
    EXPECT_TRUE(contains(found.warnings[0], "step 20 cannot be used")) << found.warnings[0];
    EXPECT_TRUE(contains(found.warnings[0], checkpoint(20).string())) << found.warnings[0];
    EXPECT_TRUE(contains(found.warnings[1], "step 10")) << found.warnings[1];
  }
};

constexpr const char* kFiles[] = {"model.safetensors", "config.json", "state.safetensors"};

TEST_F(CheckpointTest, newest_is_loaded_with_everything_that_was_saved) {
  make_two();
  const CheckpointSearch found = search();
  EXPECT_TRUE(found.warnings.empty()) << joined(found.warnings);
  ASSERT_TRUE(found.checkpoint.has_value());
  const LoadedCheckpoint& c = *found.checkpoint;
  EXPECT_EQ(c.step, 20);
  EXPECT_EQ(c.model.tensors.at("head.weight").shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(c.model.config_json, R"({"shape":{"tokens":4}})");
  EXPECT_EQ(c.state.at("moments").as<double>()[1], -0.25);
  EXPECT_EQ(c.state.at("order").as<std::int64_t>()[0], 3);
  EXPECT_EQ(c.metadata, (std::map<std::string, std::string>{{"epoch", "2"}, {"rng", "1:2:3"}}));
  EXPECT_EQ(c.metrics.rows, 2);
  EXPECT_EQ(static_cast<std::uintmax_t>(c.metrics.csv_bytes), fs::file_size(out_ / "metrics.csv"));
}

TEST_F(CheckpointTest, same_content_gives_the_same_bytes) {
  const SmallCheckpoint small(7);
  write_checkpoint(root_ / "a/7", small.checkpoint, {"h", {1, 2}});
  write_checkpoint(root_ / "b/7", small.checkpoint, {"h", {1, 2}});
  for (const char* file : kFiles)
    EXPECT_EQ(bytes_of_file(root_ / "a/7" / file), bytes_of_file(root_ / "b/7" / file)) << file;
}

TEST_F(CheckpointTest, last_two_are_kept) {
  RunDirectory run = open(small_identity());
  for (const std::int64_t step : {5, 10, 100, 1000}) save(run, step);
  EXPECT_EQ(names_in(checkpoints()), (std::vector<std::string>{checkpoint_name(100), checkpoint_name(1000)}));
}

TEST_F(CheckpointTest, truncated_files_fall_back) {
  for (const char* file : kFiles) {
    for (const double part : {0.0, 0.3, 0.99}) {
      fs::remove_all(out_);
      make_two();
      const fs::path path = checkpoint(20) / file;
      fs::resize_file(path, static_cast<std::uintmax_t>(static_cast<double>(fs::file_size(path)) * part));
      expect_fall_back(std::string(file) + " cut to " + std::to_string(part));
    }
  }
}

TEST_F(CheckpointTest, any_flipped_bit_falls_back) {
  make_two();
  for (const char* file : kFiles) {
    const fs::path path = checkpoint(20) / file;
    const std::string good = bytes_of_file(path);
    for (std::size_t at = 0; at < good.size(); at += 1 + good.size() / 61) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ (1 << (at % 8)));
      put_file(path, bad);
      EXPECT_THROW(read_checkpoint(checkpoint(20), small_identity().hashes), IoError) << file << " byte " << at;
    }
    std::string bad = good;
    bad[good.size() / 2] = static_cast<char>(bad[good.size() / 2] ^ 1);
    put_file(path, bad);
    expect_fall_back(file);
    put_file(path, good);
  }
  EXPECT_EQ(search().checkpoint->step, 20);
}

TEST_F(CheckpointTest, missing_and_foreign_files_fall_back) {
  for (const char* file : kFiles) {
    fs::remove_all(out_);
    make_two();
    fs::remove(checkpoint(20) / file);
    expect_fall_back(std::string("no ") + file);
    put_file(checkpoint(20) / file, "\x89PNG something else entirely, longer than a header");
    expect_fall_back(std::string("foreign ") + file);
    fs::remove(checkpoint(20) / file);
    fs::create_directory(checkpoint(20) / file);
    expect_fall_back(std::string("folder ") + file);
  }
}

TEST_F(CheckpointTest, whole_files_of_other_steps_fall_back) {
  make_two();
  fs::copy_file(checkpoint(10) / "model.safetensors", checkpoint(20) / "model.safetensors",
                fs::copy_options::overwrite_existing);
  expect_fall_back("model of step 10");
  fs::remove_all(checkpoint(20));
  fs::copy(checkpoint(10), checkpoint(20));
  expect_fall_back("all of step 10");
}

TEST_F(CheckpointTest, checkpoint_of_another_run_is_not_used) {
  make_two();
  const SmallCheckpoint small(30);
  write_checkpoint(checkpoint(30), small.checkpoint, {"another hash", {}});
  const CheckpointSearch found = search();
  ASSERT_TRUE(found.checkpoint.has_value());
  EXPECT_EQ(found.checkpoint->step, 20);
  EXPECT_TRUE(contains(joined(found.warnings), "another run")) << joined(found.warnings);
}

TEST_F(CheckpointTest, none_usable_is_said) {
  make_two();
  for (const std::int64_t step : {10, 20}) put_file(checkpoint(step) / "state.safetensors", "");
  const CheckpointSearch found = search();
  EXPECT_FALSE(found.checkpoint.has_value());
  ASSERT_EQ(found.warnings.size(), 3U);
  EXPECT_TRUE(contains(found.warnings[2], "begins anew"));
}

TEST_F(CheckpointTest, damaged_ones_do_not_push_out_good_ones) {
  make_two();
  put_file(checkpoint(20) / "state.safetensors", "");
  RunDirectory run = open(small_identity());
  ASSERT_EQ(run.load_latest_checkpoint().checkpoint->step, 10);
  save(run, 30);
  EXPECT_EQ(names_in(checkpoints()), (std::vector<std::string>{checkpoint_name(10), checkpoint_name(30)}));
}

TEST_F(CheckpointTest, a_later_damaged_one_goes_with_the_next_save) {
  make_two();
  put_file(checkpoint(20) / "state.safetensors", "");
  RunDirectory run = open(small_identity());
  ASSERT_EQ(run.load_latest_checkpoint().checkpoint->step, 10);
  save(run, 15);
  EXPECT_EQ(names_in(checkpoints()), (std::vector<std::string>{checkpoint_name(10), checkpoint_name(15)}));
}

TEST_F(CheckpointTest, saving_a_step_again_replaces_it) {
  make_two();
  put_file(checkpoint(20) / "model.safetensors", "broken");
  {
    RunDirectory run = open(small_identity());
    run.load_latest_checkpoint();
    save(run, 20);
  }
  EXPECT_EQ(search().checkpoint->step, 20);
  EXPECT_EQ(names_in(checkpoints()).size(), 2U);
}

TEST_F(CheckpointTest, what_a_killed_process_left_is_removed_and_ignored) {
  make_two();
  // As if killed while writing step 30, while deleting step 5, and while writing single files.
  const fs::path half = checkpoints() / ".0000000030.tmp-1-run0";
  fs::create_directories(half);
  put_file(half / "model.safetensors", "half");
  fs::create_directories(checkpoints() / ".0000000005.tmp-1-run1");
  put_file(out_ / ".manifest.json.tmp-1-0", "{");
  put_file(out_ / "lock", "pid 1 on elsewhere\n");
  fs::create_directories(out_ / ".final.tmp-1-run3");
  EXPECT_EQ(search().checkpoint->step, 20);
  EXPECT_EQ(names_in(checkpoints()), (std::vector<std::string>{checkpoint_name(10), checkpoint_name(20)}));
  for (const std::string& name : names_in(out_)) EXPECT_FALSE(is_temporary_name(name)) << name;
}

TEST_F(CheckpointTest, failed_write_leaves_the_former_folder_and_nothing_else) {
  const SmallCheckpoint small(1);
  write_model(root_ / "final", small.model());
  const std::string before = bytes_of_file(root_ / "final/model.safetensors");
  EXPECT_THROW(write_folder_atomic(root_ / "final",
                                   [](const fs::path& fresh) {
                                     put_file(fresh / "model.safetensors", "half");
                                     throw IoError({.what = "disk full"});
                                   }),
               IoError);
  EXPECT_EQ(bytes_of_file(root_ / "final/model.safetensors"), before);
  EXPECT_EQ(names_in(root_), (std::vector<std::string>{"final"}));
}

TEST_F(CheckpointTest, models_load_from_folder_or_file) {
  RunDirectory run = open(small_identity());
  const SmallCheckpoint small(3);
  for (const char* name : {"init", "final", "snapshots/10"}) run.save_model(name, small.model());
  const SmallCheckpoint later(4);
  run.save_model("final", later.model());
  EXPECT_EQ(load_model_file(out_ / "final").tensors.at("head.weight").as<float>()[0], 4);
  const LoadedModel from_file = load_model_file(out_ / "snapshots/10/model.safetensors");
  EXPECT_EQ(from_file.tensors.at("head.weight").as<float>()[0], 3);
  EXPECT_FALSE(from_file.config_json.empty());
  fs::copy_file(out_ / "init/model.safetensors", root_ / "bare.safetensors");
  EXPECT_TRUE(load_model_file(root_ / "bare.safetensors").config_json.empty());
  EXPECT_TRUE(contains(message_of<IoError>([&] { load_model_file(out_); }), "no model"));
  EXPECT_THROW(run.save_model("../elsewhere", small.model()), std::logic_error);
  EXPECT_THROW(run.save_model("snapshots/..", small.model()), std::logic_error);
}

}  // namespace
}  // namespace locus

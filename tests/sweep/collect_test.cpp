// Gathering results: what is known is not read again, several at once lose nothing, and the files are those of one look at
// all.
#include "sweep/collect.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/error.h"
#include "run/claim.h"
#include "tests/support/fake_run.h"

namespace locus {
namespace {

namespace fs = std::filesystem;
using testing_support::read_text;
using testing_support::TempFolder;
using testing_support::write_text;

class CollectTest : public ::testing::Test {
 protected:
  CollectTest() {
    sweep_.prepare();
    sweep_.write_plan(plan_);
  }
  void finish(std::size_t i, double value = 0.25) const {
    Summary summary;
    summary.epochs = 3;
    summary.steps = 30;
    summary.reason = "3 epochs";
    summary.seconds = 1.5;
    // An order that is not that of the alphabet, and values that are no short numbers.
    summary.values = {{"test.loss", value / 3}, {"heldout.accuracy", value}, {"heldout.accuracy.binary", 1.0 / 0.0}};
    write_part(i, summary);
  }
  void write_part(std::size_t i, const Summary& summary) const {
    fs::create_directories(sweep_.run(plan_.cells[i].hash));
    write_summary_file(sweep_.run(plan_.cells[i].hash) / "summary.json", summary);
  }
  std::string csv() const { return read_text(sweep_.path() / "results.csv"); }
  std::string json() const { return read_text(sweep_.path() / "results.json"); }

  TempFolder folder_{"collect"};
  SweepFolder sweep_{folder_ / "out"};
  SweepPlan plan_ = make_plan(load_sweep({"", {"pe.sigma=0.1,0.5,2", "seed=0..9"}, {}}));
};

TEST_F(CollectTest, only_cells_that_changed_are_read) {
  for (std::size_t i = 0; i < 20; ++i) finish(i);
  EXPECT_EQ(write_results(sweep_).read, 20);
  EXPECT_EQ(write_results(sweep_).read, 0);
  finish(20);
  sweep_.record_failure(plan_.cells[21].hash, "name", {CellStatus::kCrashed, "Segmentation fault", {}});
  const ResultsWritten more = write_results(sweep_);
  EXPECT_EQ(more.read, 2);
  EXPECT_EQ(more.cells, 22);
  // What failed is looked at again: it may have run since.
  EXPECT_EQ(write_results(sweep_).read, 1);
  const std::string short_way = csv(), short_json = json();
  EXPECT_EQ(write_results(sweep_, true).read, 22);
  EXPECT_EQ(csv(), short_way);
  EXPECT_EQ(json(), short_json);
}

TEST_F(CollectTest, a_cell_that_was_removed_goes_out_of_the_results) {
  for (std::size_t i = 0; i < 3; ++i) finish(i);
  write_results(sweep_);
  fs::remove_all(sweep_.run(plan_.cells[1].hash));
  EXPECT_EQ(write_results(sweep_).cells, 2);
  EXPECT_EQ(csv().find(plan_.cells[1].hash), std::string::npos);
}

TEST_F(CollectTest, damaged_results_are_made_anew) {
  for (std::size_t i = 0; i < 3; ++i) finish(i);
  write_results(sweep_);
  const std::string good = csv();
  for (const std::string& text : {std::string("{"), std::string("[]"), std::string("{\"cells\": [{\"cell\": 3}]}"),
                                  json().substr(0, json().size() / 2)}) {
    write_text(sweep_.path() / "results.json", text);
    EXPECT_EQ(write_results(sweep_).read, 3);
    EXPECT_EQ(csv(), good);
  }
}

// Each process finishes a cell and gathers. Whoever comes last, the rows of all are there.
TEST_F(CollectTest, of_many_writers_none_takes_away_the_rows_of_another) {
  for (int i = 0; i < 30; ++i) {
    if (::fork() == 0) {
      ::usleep(static_cast<useconds_t>(1000 * (i * 7 % 13)));
      finish(static_cast<std::size_t>(i), 0.01 * i);
      try {
        collect_results(sweep_);
      } catch (const Error& e) {
        ::fprintf(stderr, "%s\n", e.what());
        ::_exit(1);
      }
      // Its own row is there when the call returns.
      ::_exit(csv().find(plan_.cells[static_cast<std::size_t>(i)].hash) == std::string::npos ? 2 : 0);
    }
  }
  int bad = 0;
  for (int i = 0; i < 30; ++i) {
    int status = 0;
    ::wait(&status);
    if (status != 0) ++bad;
  }
  EXPECT_EQ(bad, 0);
  const std::string together = csv();
  write_results(sweep_, true);
  EXPECT_EQ(csv(), together);
  for (const SweepCell& cell : plan_.cells) EXPECT_NE(together.find(cell.hash), std::string::npos);
  for (const char* name : {"results.wanted", "results.begun", "results.lock"})
    EXPECT_FALSE(fs::exists(sweep_.path() / name)) << name;
}

TEST_F(CollectTest, a_collector_that_was_killed_leaves_the_work_to_the_next) {
  finish(0);
  collect_results(sweep_);
  finish(1);
  // As if it had begun, for others as well, and died before it wrote.
  write_text(sweep_.path() / "results.begun", "");
  const Collection done = collect_results(sweep_);
  EXPECT_FALSE(done.by_another);
  EXPECT_EQ(done.written.cells, 2);
}

TEST_F(CollectTest, who_waits_too_long_is_told_for_whom) {
  finish(0);
  const std::optional<Claim> other = Claim::take(sweep_.path() / "results.lock");
  try {
    collect_results(sweep_, false, 0.3);
    FAIL();
  } catch (const IoError& e) {
    EXPECT_NE(std::string(e.what()).find("pid " + std::to_string(::getpid())), std::string::npos) << e.what();
  }
  EXPECT_FALSE(fs::exists(sweep_.path() / "results.csv"));
}

TEST_F(CollectTest, the_instruction_set_stands_in_the_plan) {
  EXPECT_EQ(sweep_.planned_isa(), "");
  sweep_.write_plan(plan_, "avx2");
  EXPECT_EQ(sweep_.planned_isa(), "avx2");
  finish(0);
  EXPECT_EQ(write_results(sweep_).cells, 1) << "the same cells in two plans count once";
  sweep_.write_plan(plan_, "baseline");
  EXPECT_THROW(sweep_.planned_isa(), IoError);
}

}  // namespace
}  // namespace locus

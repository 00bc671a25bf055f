// Rows of sources and tasks: complete, found by the keys that name them, and added to by other programs.
#include "config/sources.h"

#include <gtest/gtest.h>

#include <functional>
#include <set>

#include "config/identity.h"
#include "config/load.h"
#include "config/tasks.h"
#include "core/error.h"

namespace locus {
namespace {

RunConfig config_of(const std::vector<std::string>& overrides) {
  RunConfig config;
  for (const std::string& o : overrides) apply_override(config, o);
  return config;
}

std::string message_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "";
}

TEST(SourceRowTest, every_row_is_complete_and_serves_tasks_that_there_are) {
  std::set<std::string> names;
  for (const SourceRow& row : source_rows()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_FALSE(row.study.empty() || row.title.empty() || row.summary.empty()) << row.name;
    EXPECT_NE(row.make, nullptr) << row.name;
    ASSERT_FALSE(row.tasks.empty()) << row.name;
    for (const std::string& task : row.tasks) EXPECT_NO_THROW(task_row(task)) << row.name;
  }
  for (const TaskRow& row : task_rows()) {
    EXPECT_FALSE(row.name.empty() || row.summary.empty() || row.readouts.empty() || row.measures.empty()) << row.name;
    EXPECT_NE(row.measure, nullptr) << row.name;
  }
}

TEST(SourceRowTest, keys_name_the_source_and_with_it_the_task_and_the_metric) {
  const struct {
    std::vector<std::string> overrides;
    const char *source, *task, *metric;
    int axes;
  } cases[] = {{{}, "lst", "classify", "heldout.accuracy", 2},
               {{"study=masked"}, "nmar", "masked", "test.mse", 3},
               {{"study=masked", "series.source=files"}, "files", "masked", "test.mse", 3}};
  for (const auto& [overrides, source, task, metric, axes] : cases) {
    RunConfig c = config_of(overrides);
    EXPECT_EQ(source_of(c).name, source);
    EXPECT_EQ(task_of(c).name, task);
    EXPECT_EQ(default_metric(c), metric);
    c.pe.positions = PePositions::kData;
    EXPECT_EQ(c.position_axes(), axes);
  }
}

TEST(SourceRowTest, an_unknown_name_is_an_error_with_the_nearest) {
  EXPECT_NE(message_of([] { config_of({"study=maskd"}); }).find("did you mean masked?"), std::string::npos);
  EXPECT_NE(message_of([] { config_of({"task=clasify"}); }).find("did you mean classify?"), std::string::npos);
  RunConfig c;
  c.study = "lts";
  EXPECT_NE(message_of([&] { source_of(c); }).find("did you mean lst?"), std::string::npos);
  EXPECT_THROW(validate(c), ConfigError);
}

TEST(TaskRowTest, a_task_that_the_source_cannot_serve_is_refused) {
  EXPECT_NE(message_of([] { validate(config_of({"task=masked"})); }).find("study = lst cannot have task = masked"),
            std::string::npos);
  EXPECT_NO_THROW(validate(config_of({"task=classify"})));
}

TEST(TaskRowTest, metrics_tell_their_measure) {
  for (const char* metric : {"heldout.accuracy", "heldout.accuracy.ternary", "test.noisy_accuracy"}) {
    ASSERT_NE(measure_of(metric), nullptr) << metric;
    EXPECT_TRUE(measure_of(metric)->higher_is_better && measure_of(metric)->is_fraction) << metric;
  }
  ASSERT_NE(measure_of("test.mse_ridge"), nullptr);
  EXPECT_FALSE(measure_of("test.mse_ridge")->higher_is_better);
  EXPECT_EQ(measure_of("test.loss"), nullptr);
}

struct OwnConfig {
  double height = 2;
  std::string folder;
};

void describe(OwnConfig& c, FieldList& list) {
  list.section("own", "settings of another program");
  list.number("height", c.height, {0, 10}, "a number");
  list.text("folder", c.folder, "a place").identity = false;
}

ConfigSection own_section() {
  return {"own", [](RunConfig& c, FieldList& list) { describe(c.own.of<OwnConfig>(), list); }};
}

// Once in this process, whichever test comes first.
void register_own() {
  static const bool done = [] {
    SourceRow row = source_rows().front();
    row.name = row.study = "own";
    row.sections = {own_section()};
    register_source(row);
    return true;
  }();
  EXPECT_TRUE(done);
}

TEST(OwnSourceTest, its_section_is_read_printed_and_bounded_like_any) {
  register_own();
  RunConfig c;
  load_toml_text(c, "study = \"own\"\n[own]\nheight = 3.5\n", "test");
  EXPECT_EQ(c.own.of<OwnConfig>().height, 3.5);
  EXPECT_NE(to_toml(c).find("[own]\nheight = 3.5\nfolder = \"\"\n"), std::string::npos);
  EXPECT_EQ(run_config_from_json(to_json(c), "test").own.of<OwnConfig>().height, 3.5);
  EXPECT_THROW(apply_override(c, "own.height=11"), ConfigError);
  EXPECT_NE(message_of([&] { apply_override(c, "own.hight=1"); }).find("did you mean own.height?"), std::string::npos);
}

TEST(OwnSourceTest, copies_are_apart_and_assignment_keeps_fields_bound) {
  register_own();
  RunConfig a;
  a.own.of<OwnConfig>().height = 4;
  RunConfig b = a;
  b.own.of<OwnConfig>().height = 5;
  EXPECT_EQ(a.own.of<OwnConfig>().height, 4);
  const FieldList list = describe(b);
  b = a;
  EXPECT_EQ(list.find("own.height", "test").text(), "4.0");
  b = RunConfig{};
  EXPECT_EQ(list.find("own.height", "test").text(), "2.0");
  list.find("own.height", "test").set(6.0, "test");
  EXPECT_EQ(b.own.of<OwnConfig>().height, 6);
}

TEST(OwnSourceTest, its_keys_count_for_the_identity_unless_at_their_default) {
  const IdentityHashes before = config_identity(RunConfig{}, "d");
  register_own();
  RunConfig c;
  EXPECT_EQ(config_identity(c, "d").current, before.current);
  EXPECT_EQ(config_identity(c, "d").version1, before.version1);
  c.own.of<OwnConfig>().folder = "elsewhere";
  EXPECT_EQ(config_identity(c, "d").current, before.current) << "no part of a run's identity";
  c.own.of<OwnConfig>().height = 3;
  EXPECT_NE(config_identity(c, "d").current, before.current);
  EXPECT_EQ(config_identity(c, "d").version1, "");
}

TEST(OwnSourceTest, names_that_are_taken_are_refused) {
  register_own();
  SourceRow row = source_rows().front();
  EXPECT_THROW(register_source(row), ConfigError);
  row.name = row.study = "second";
  row.sections = {{"model", own_section().describe}};
  EXPECT_THROW(register_source(row), ConfigError) << "a section of the program";
  row.sections = {{"own", [](RunConfig&, FieldList&) {}}};
  EXPECT_THROW(register_source(row), ConfigError) << "a section of another source";
  EXPECT_THROW(register_task(task_rows().front()), ConfigError);
  EXPECT_EQ(study_names().back(), "own");
}

}  // namespace
}  // namespace locus

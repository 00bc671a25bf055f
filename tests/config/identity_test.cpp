// Hashes of runs: pinned values, what a new, renamed or removed key does to them, and the table that they are made of.
#include "config/identity.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <set>

#include "config/load.h"
#include "config/pinned_texts.h"
#include "config/sections.h"
#include "core/error.h"
#include "core/hash.h"

namespace locus {
namespace {

constexpr const char* kFile = "src/config/identity.txt";

RunConfig config_of(const std::vector<std::string>& overrides) {
  RunConfig config;
  for (const std::string& o : overrides) apply_override(config, o);
  return config;
}

const std::vector<std::string> kNmar = {"study=masked",      "model.readout=masked", "series.source=nmar",
                                        "nmar.sizes=[4, 4]", "pe.sigma=0.1",         "seed=3",
                                        "optim.lr=0.001"};
const std::vector<std::string> kFiles = {
    "study=masked",           "model.readout=masked", "series.source=files", "series.files=[rest/*.h5]",
    "series.atlas=atlas.csv", "series.window=2",      "series.test_last=5",  "pe.kind=rotary",
    "pe.positions=data",      "mask.ratio=0.25",      "stop.epochs=7",       "watch.eval_steps=200"};

IdentityHashes hashes_of(const FieldList& list, const IdentityTable& table, const PinnedSignature* cell = nullptr) {
  std::vector<std::string> texts;
  for (const Field& f : list.fields()) texts.push_back(f.text());
  const IdentityMaker maker(list, table);
  return cell == nullptr ? maker.run(texts, "d") : maker.cell(texts, "d", *cell);
}

std::string table_with(const std::string& rows) { return std::string(kIdentityText) + rows + "\n"; }

KeyRole role_of(const Field& field, const IdentityKey& key) {
  if (field.identity) return KeyRole::kRun;
  return key.role == KeyRole::kNone ? KeyRole::kNone : KeyRole::kCell;  // which of the two, only the table says
}

TEST(IdentityTest, three_runs_are_pinned_in_both_versions) {
  const struct {
    std::vector<std::string> overrides;
    const char* current;
    const char* version1;
  } pinned[] = {{{}, "v2-99178849a8496373", "47d1cc127d5093a8"},
                {kNmar, "v2-fef12cc710cb1655", "096a7714a630b44b"},
                {kFiles, "v2-81666c2b441ce11a", "ee233d011414617e"}};
  for (const auto& [overrides, current, version1] : pinned) {
    const IdentityHashes hashes = config_identity(config_of(overrides), "d");
    EXPECT_EQ(hashes.current, current) << "runs that there are would no longer be known; see docs/compatibility.md";
    EXPECT_EQ(hashes.version1, version1) << "runs of version 1 would no longer be known; it is frozen";
    EXPECT_TRUE(hashes.knows(current));
    EXPECT_TRUE(hashes.knows(version1));
    EXPECT_FALSE(hashes.knows(""));
  }
}

TEST(IdentityTest, the_table_has_a_row_for_every_key_with_its_default_and_role) {
  RunConfig defaults;
  const FieldList list = describe(defaults);
  const std::vector<IdentityKey>& keys = IdentityTable::pinned().keys();
  for (const Field& f : list.fields()) {
    if (is_own_key(f.path)) continue;  // of another test, which registers a source
    const auto key =
        std::find_if(keys.begin(), keys.end(), [&](const IdentityKey& k) { return key_name_now(k.name) == f.path; });
    if (key == keys.end()) {
      ADD_FAILURE() << "new key: append this row to " << kFile << " (or `cell`/`none`, see there):\nrun  " << f.path << " = "
                    << f.text();
      continue;
    }
    EXPECT_EQ(f.text(), key->default_now) << "the default of " << f.path << " is another one now: leave its row in " << kFile
                                          << ", which old hashes rest on, and append\nchanged " << key->name << " = "
                                          << f.text();
    EXPECT_EQ(role_of(f, *key), key->role) << f.path << ": Field::identity and its row in " << kFile
                                           << " disagree. A role never changes: give the key another name";
  }
}

TEST(IdentityTest, the_rows_of_version_1_are_frozen) {
  std::string rows;
  for (const IdentityKey& k : IdentityTable::pinned().keys()) {
    if (k.in_version1) rows += fmt::format("{} {} = {}\n", static_cast<int>(k.role), k.name, k.pinned_default);
  }
  EXPECT_EQ(sha256_hex(rows).substr(0, 16), "64f3044353efe963")
      << "rows above `version 1 ends` in " << kFile << " were edited: put them back, hashes of old runs rest on them";
}

TEST(IdentityTest, a_new_key_at_its_default_changes_no_hash_and_at_another_value_all) {
  for (const std::vector<std::string>& overrides : {std::vector<std::string>{}, kNmar, kFiles}) {
    RunConfig config = config_of(overrides);
    const IdentityHashes before = config_identity(config, "d");
    double extra = 0.5;
    FieldList list = describe(config);
    list.section("model", "");
    list.number("later", extra, {}, "a key of a later day");
    const IdentityTable table(table_with("run model.later = 0.5"));
    EXPECT_EQ(hashes_of(list, table).current, before.current);
    EXPECT_EQ(hashes_of(list, table).version1, before.version1);
    extra = 0.25;
    EXPECT_NE(hashes_of(list, table).current, before.current);
    EXPECT_EQ(hashes_of(list, table).version1, "") << "version 1 knew no such key and cannot have made this run";
  }
}

TEST(IdentityTest, a_key_without_a_row_is_a_programmers_mistake) {
  RunConfig config;
  double extra = 0;
  FieldList list = describe(config);
  list.section("", "");
  list.number("later", extra, {}, "help");
  EXPECT_THROW(IdentityMaker(list, IdentityTable::pinned()), std::exception);
}

TEST(IdentityTest, a_changed_default_counts_and_the_old_one_is_still_left_out) {
  RunConfig config = config_of({"pe.sigma=0.3"});
  const FieldList list = describe(config);
  const IdentityTable table(table_with("changed pe.sigma = 0.3"));
  EXPECT_EQ(hashes_of(list, table).current, config_identity(config, "d").current);
  const auto sigma =
      std::find_if(table.keys().begin(), table.keys().end(), [](const auto& k) { return k.name == "pe.sigma"; });
  EXPECT_EQ(sigma->default_now, "0.3");
  EXPECT_EQ(sigma->pinned_default, "0.2");
}

TEST(IdentityTest, a_renamed_key_keeps_its_hashes) {
  double width = 1.5;
  FieldList before;
  before.number("spread", width, {}, "help");
  FieldList after;
  after.number("sigma", width, {}, "help");
  const RenamedKey renamed[] = {{"spread", "sigma"}};
  const IdentityTable table("run spread = 0.2\nversion 1 ends\n");
  const std::vector<std::string> texts = {"1.5"};
  const IdentityHashes now = IdentityMaker(after, table, renamed).run(texts, "d");
  EXPECT_EQ(now.current, hashes_of(before, table).current);
  EXPECT_EQ(now.version1, hashes_of(before, table).version1);
}

TEST(RenamedKeysTest, a_user_is_told_the_new_name) {
  const RenamedKey renamed[] = {{"pe.spread", "pe.sigma"}};
  EXPECT_EQ(key_name_now("pe.spread", renamed), "pe.sigma");
  EXPECT_EQ(key_name_now("pe.kind", renamed), "pe.kind");
  const std::string told = unknown_key("pe.spread", "command line", {"pe.kind", "pe.sigma"}, renamed).what();
  EXPECT_NE(told.find("write pe.sigma instead of pe.spread"), std::string::npos) << told;
  const std::string near = unknown_key("pe.sigm", "command line", {"pe.kind", "pe.sigma"}, renamed).what();
  EXPECT_NE(near.find("did you mean pe.sigma?"), std::string::npos) << near;
}

TEST(RenamedKeysTest, every_renamed_key_has_a_new_name_that_is_a_key) {
  RunConfig config;
  const std::vector<std::string> names = describe(config).names();
  const std::set<std::string> keys(names.begin(), names.end());
  for (const RenamedKey& r : renamed_keys()) {
    EXPECT_EQ(keys.count(std::string(r.now)), 1u) << r.now;
    EXPECT_EQ(keys.count(std::string(r.before)), 0u) << r.before << " is a key again: give the new one another name";
  }
}

TEST(IdentityTest, a_removed_key_keeps_the_hashes_of_its_pinned_default) {
  double sigma = 0.5;
  double gone = 7;
  FieldList before;
  before.number("sigma", sigma, {}, "help");
  before.number("gone", gone, {}, "help");
  FieldList after;
  after.number("sigma", sigma, {}, "help");
  const IdentityTable table("run sigma = 0.2\nrun gone = 7.0\nversion 1 ends\n");
  EXPECT_EQ(hashes_of(after, table).current, hashes_of(before, table).current);
  EXPECT_EQ(hashes_of(after, table).version1, hashes_of(before, table).version1);
  gone = 8;
  EXPECT_NE(hashes_of(after, table).current, hashes_of(before, table).current);
  EXPECT_NE(hashes_of(after, table).version1, hashes_of(before, table).version1);
}

TEST(IdentityTest, the_order_of_the_table_is_no_part_of_the_hash) {
  double a = 1;
  double b = 2;
  FieldList list;
  list.number("a", a, {}, "help");
  list.number("b", b, {}, "help");
  EXPECT_EQ(hashes_of(list, IdentityTable("version 1 ends\nrun a = 0.0\nrun b = 0.0\n")).current,
            hashes_of(list, IdentityTable("version 1 ends\nrun b = 0.0\nrun a = 0.0\n")).current);
}

TEST(IdentityTest, a_cell_counts_stop_rules_and_its_encodings_behaviour) {
  RunConfig config;
  const FieldList list = describe(config);
  const IdentityTable& table = IdentityTable::pinned();
  const PinnedSignature same{"s", "t"};
  const PinnedSignature other{"u", ""};
  const IdentityHashes plain = hashes_of(list, table, &same);
  EXPECT_NE(hashes_of(list, table, &other).current, plain.current);
  EXPECT_EQ(hashes_of(list, table, &other).version1, "") << "the encoding computes differently: old cells do not count";
  config.stop.epochs = 7;
  EXPECT_NE(hashes_of(list, table, &same).current, plain.current);
  EXPECT_EQ(hashes_of(list, table).current, config_identity({}, "d").current) << "no part of a run's hash";
  config = {};
  config.watch.checkpoint_every = 3;
  EXPECT_EQ(hashes_of(list, table, &same).current, plain.current);
}

TEST(IdentityTest, lines_of_no_sense_are_refused) {
  for (const char* bad : {"runs a = 1", "run a", "run", "changed a = 1", "run a = 1\nrun a = 2"})
    EXPECT_THROW(IdentityTable{bad}, ConfigError) << bad;
}

TEST(SignaturePinsTest, a_row_has_four_parts_and_an_encoding_without_one_is_unpinned) {
  EXPECT_THROW(read_signature_pins("learned scalar any\n"), ConfigError);
  const auto pins = read_signature_pins(
      "# comment\nlearned scalar any aa\nlearned version-1 any aa\nnone scalar any bb\n"
      "none version-1 any cc\nprogram version-1 any dd\n");
  ASSERT_EQ(pins.size(), 5u);
  EXPECT_EQ(pinned_signature("learned", pins).hash, "aa");
  EXPECT_EQ(pinned_signature("learned", pins).version1, "dd");
  EXPECT_EQ(pinned_signature("none", pins).version1, "") << "it computes differently from version 1";
  EXPECT_EQ(pinned_signature("toy", pins).hash, "unpinned");
  EXPECT_TRUE(same_behaviour("dd", pinned_signature("learned", pins)));
  EXPECT_FALSE(same_behaviour("dd", pinned_signature("none", pins)));
  EXPECT_FALSE(same_behaviour("", pinned_signature("none", pins)));
}

}  // namespace
}  // namespace locus

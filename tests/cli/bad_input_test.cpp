// Mistakes that users make, each with exit code 2 (usage) or 1 (data, files), one message that names what, where and how
// to mend it, and nothing half-written.
#include <algorithm>
#include <functional>
#include <vector>

#include "tests/cli/cli_testing.h"
#include "tests/support/paths.h"

namespace locus {
namespace {

using cli_testing::Result;
using cli_testing::text_of;
using cli_testing::Workplace;
using cli_testing::write;

struct Bad {
  const char* name;
  const char* setup;    // shell, before
  const char* command;  // shell; writes to `new` if it wrote at all
  int code;
  std::vector<const char*> says;  // parts of the message
};

const std::vector<Bad>& cases() {
  static const std::vector<Bad> all = {
      // Configuration files.
      {"key_with_a_typo",
       "echo '[pe]\nsigm = 1.0' >c.toml",
       "locus train c.toml --out new",
       2,
       {"pe.sigm", "c.toml:2", "pe.sigma"}},
      {"unknown_section", "echo '[positions]\nsigma = 1.0' >c.toml", "locus train c.toml --out new", 2, {"positions.sigma"}},
      {"wrong_type", "echo '[pe]\nsigma = \"big\"' >c.toml", "locus train c.toml --out new", 2, {"pe.sigma", "c.toml:2"}},
      {"text_without_quotes",
       "echo '[pe]\nkind = learned' >c.toml",
       "locus train c.toml --out new",
       2,
       {"TOML", "c.toml:2", "quotes"}},
      {"unknown_choice",
       "echo '[pe]\nkind = \"lerned\"' >c.toml",
       "locus train c.toml --out new",
       2,
       {"pe.kind", "learned"}},
      {"value_out_of_range",
       "echo '[model]\nheads = 0' >c.toml",
       "locus train c.toml --out new",
       2,
       {"model.heads", "out of range", "1 .. "}},
      {"list_of_mixed_values",
       "echo '[watch]\nsnapshots = [1, \"a\"]' >c.toml",
       "locus train c.toml --out new",
       2,
       {"watch.snapshots", "c.toml"}},
      {"missing_config", "", "locus train absent.toml --out new", 2, {"absent.toml", "configs/"}},
      {"config_is_a_folder", "mkdir c.toml", "locus train c.toml --out new", 2, {"c.toml", "folder"}},
      {"missing_base", "echo 'base = \"absent.toml\"' >c.toml", "locus train c.toml --out new", 2, {"absent.toml"}},
      {"bases_in_a_circle",
       "echo 'base = \"d.toml\"' >c.toml; echo 'base = \"c.toml\"' >d.toml",
       "locus train c.toml --out new",
       2,
       {"base"}},
      // Overrides and options.
      {"override_without_value", "", "locus train tiny.toml pe.sigma --out new", 2, {"key=value", "pe.sigma"}},
      {"override_of_an_unknown_key", "", "locus train tiny.toml pe.sgima=1 --out new", 2, {"pe.sgima", "pe.sigma"}},
      {"override_of_a_wrong_type", "", "locus train tiny.toml model.layers=two --out new", 2, {"model.layers", "two"}},
      {"override_not_a_number", "", "locus train tiny.toml optim.lr=nan --out new", 2, {"optim.lr"}},
      {"unknown_flag", "", "locus train tiny.toml --out new --sead 3", 2, {"--sead"}},
      {"unknown_subcommand", "", "locus trian tiny.toml --out new", 2, {"trian", "did you mean train"}},
      {"missing_required_option", "", "locus train tiny.toml", 2, {"--out"}},
      {"threads_below_one", "", "locus train tiny.toml --out new --threads 0", 2, {"--threads"}},
      // Contradictions.
      {"heads_do_not_divide_width", "", "locus train tiny.toml model.heads=3 --out new", 2, {"model.heads", "model.width"}},
      {"rotary_with_odd_heads", "", "locus train tiny.toml model.width=6 pe.kind=rotary --out new", 2, {"rotary", "even"}},
      {"readout_of_another_study", "", "locus train tiny.toml model.readout=masked --out new", 2, {"model.readout", "lst"}},
      {"cosine_without_length", "", "locus train tiny.toml optim.schedule=cosine --out new", 2, {"optim.schedule_steps"}},
      {"momentum_for_adam", "", "locus train tiny.toml optim.momentum=0.9 --out new", 2, {"optim.momentum", "sgd"}},
      {"no_stop_rule", "", "locus train tiny.toml stop.epochs=0 --out new", 2, {"stop rule", "stop.epochs"}},
      {"malformed_group", "", "locus train tiny.toml 'optim.group_lr=[\"head\"]' --out new", 2, {"optim.group_lr", "head"}},
      {"readout_token_that_is_not_there",
       "",
       "locus train tiny.toml model.readout_token=9 --out new",
       2,
       {"model.readout_token", "-9 .. 8"}},
      {"laplacian_with_a_cls_token",
       "",
       "locus train tiny.toml pe.kind=laplacian model.readout=cls --out new",
       2,
       {"laplacian", "CLS"}},
      {"buckets_beyond_the_distance",
       "",
       "locus train tiny.toml pe.kind=t5 pe.max_distance=3 --out new",
       2,
       {"pe.max_distance", "pe.buckets"}},
      // Files for the encoding.
      {"table_without_a_file", "", "locus train tiny.toml pe.init=file --out new", 2, {"pe.file"}},
      {"table_file_missing", "", "locus train tiny.toml pe.init=file pe.file=t.npy --out new", 1, {"t.npy"}},
      {"table_of_the_wrong_shape",
       "printf '1,2\\n3,4\\n' >t.csv",
       "locus train tiny.toml pe.init=file pe.file=t.csv --out new",
       1,
       {"t.csv", "(9, 8)", "(2, 2)"}},
      {"table_with_nan",
       "for i in 1 2 3 4 5 6 7 8 9; do echo 1,2,3,nan,5,6,7,8; done >t.csv",
       "locus train tiny.toml pe.init=file pe.file=t.csv --out new",
       1,
       {"t.csv", "NaN"}},
      {"table_in_a_foreign_safetensors",
       "cp run/final/model.safetensors t.safetensors",
       "locus train tiny.toml model.width=16 pe.init=file pe.file=t.safetensors --out new",
       1,
       {"t.safetensors", "(9, 16)"}},
      // Folders.
      {"out_is_a_file", "touch new.txt", "locus train tiny.toml --out new.txt", 2, {"new.txt", "file"}},
      {"out_holds_something_else",
       "mkdir other; echo x >other/thesis.tex",
       "locus train tiny.toml --out other",
       2,
       {"thesis.tex", "--out"}},
      {"out_holds_another_configuration",
       "",
       "locus train tiny.toml pe.sigma=0.7 --out run",
       2,
       {"pe.sigma", "0.7", "--out"}},
      {"out_cannot_be_made", "", "locus train tiny.toml --out /proc/locus/new", 1, {"/proc"}},
      {"out_below_a_file", "touch plain", "locus train tiny.toml --out plain/new", 1, {"plain"}},
      // Runs and models.
      {"eval_of_nothing", "", "locus eval absent", 1, {"absent"}},
      {"eval_of_a_folder_without_a_run", "mkdir empty", "locus eval empty", 1, {"empty"}},
      {"eval_of_an_unknown_split", "", "locus eval run --split trian", 2, {"trian", "train", "heldout"}},
      {"eval_of_an_unknown_model", "", "locus eval run --model snapshots/7", 1, {"snapshots/7"}},
      {"eval_of_a_truncated_model",
       "cp -r run cut; truncate -s 300 cut/final/model.safetensors",
       "locus eval cut",
       1,
       {"cut/final/model.safetensors"}},
      {"eval_of_an_altered_model",
       "cp -r run bit; printf X | dd of=bit/final/model.safetensors bs=1 seek=$(($(stat -c %s bit/final/model.safetensors) "
       "- 50)) conv=notrunc status=none",
       "locus eval bit",
       1,
       {"bit/final/model.safetensors"}},
      {"eval_of_a_foreign_model",
       "cp -r run odd; cp run/dataset.safetensors odd/final/model.safetensors",
       "locus eval odd",
       1,
       {"odd/final/model.safetensors", "embed.weight"}},
      {"eval_with_another_shape", "", "locus eval run model.width=16", 2, {"model.width = 16 (there: 8)"}},
      {"eval_with_other_heads", "", "locus eval run model.heads=1", 2, {"model.heads = 1 (there: 2)"}},
      {"inspect_of_nothing", "", "locus inspect absent.npy", 1, {"absent.npy"}},
      {"inspect_of_noise",
       "head -c 2000 /dev/zero >noise.safetensors",
       "locus inspect noise.safetensors",
       1,
       {"noise.safetensors"}},
      {"inspect_of_an_unknown_format", "echo hello >notes.docx", "locus inspect notes.docx", 1, {"notes.docx"}},
      // Puzzles. A good row: row 1 lacks 2 only.
      {"puzzles_without_a_column",
       "echo 'ID,LST_num,condition,solutions\n0,,Binary,2' >p.csv",
       "locus lst show p.csv",
       1,
       {"p.csv", "puzzles"}},
      {"puzzle_of_15_digits",
       "echo 'ID,LST_num,condition,puzzles,solutions\n0,,Binary,134500000000000,2' >p.csv",
       "locus lst show p.csv",
       1,
       {"p.csv", "15"}},
      {"puzzle_with_symbol_7",
       "echo 'ID,LST_num,condition,puzzles,solutions\n0,,Binary,1375000000000000,2' >p.csv",
       "locus lst show p.csv",
       1,
       {"p.csv", "7"}},
      {"puzzle_with_two_targets",
       "echo 'ID,LST_num,condition,puzzles,solutions\n0,,Binary,1345500000000000,2' >p.csv",
       "locus lst show p.csv",
       1,
       {"p.csv", "target"}},
      {"puzzle_that_contradicts_itself",
       "echo 'ID,LST_num,condition,puzzles,solutions\n0,,Binary,1145000000000000,2' >p.csv",
       "locus lst show p.csv",
       1,
       {"p.csv", "Row 1"}},
      {"puzzle_with_a_wrong_solution",
       "echo 'ID,LST_num,condition,puzzles,solutions\n0,,Binary,1345000000000000,3' >p.csv",
       "locus lst show p.csv",
       1,
       {"p.csv", "solution", "3"}},
      {"puzzle_file_that_is_empty", "touch p.csv", "locus lst show p.csv", 1, {"p.csv"}},
      {"puzzle_that_is_no_puzzle", "", "locus lst show hello", 1, {"hello"}},
      {"puzzle_beyond_the_file",
       "echo 'ID,LST_num,condition,puzzles,solutions\n0,,Binary,1345000000000000,2' >p.csv",
       "locus lst show p.csv --index 9",
       2,
       {"p.csv", "9"}},
      {"authors_folder_missing",
       "",
       "locus train tiny.toml lst.n=4 lst.source=authors lst.dir=absent --out new",
       1,
       {"absent"}},
      // Samples.
      {"samples_missing", "", "locus fit absent.csv --out new", 1, {"absent.csv"}},
      {"samples_with_nan",
       "for i in $(seq 40); do echo 1.$i,2.$i,3.$i; done >s.csv; echo 1,nan,3 >>s.csv",
       "locus fit s.csv stop.steps=1 --out new",
       1,
       {"s.csv"}},
      {"samples_constant_where_training_looks",
       "for i in $(seq 40); do echo 1.$i,$(( i < 38 ? 3 : i )).5,2.$i; done >s.csv",
       "locus fit s.csv stop.steps=1 --out new",
       1,
       {"s.csv", "region002", "does not vary"}},
      {"samples_too_large_to_scale",
       "for i in $(seq 40); do echo 1.$i,$((i*7%11))e306,2.$i; done >s.csv",
       "locus fit s.csv stop.steps=1 --out new",
       1,
       {"s.csv", "region002", "too large"}},
      {"samples_that_are_a_connectivity",
       "printf '1,.2,.3\\n.2,1,.4\\n.3,.4,1\\n' >s.csv",
       "locus fit s.csv stop.steps=1 --out new",
       1,
       {"s.csv", "symmetric", "matrices=NAME=FILE"}},
      {"a_network_without_noise", "", "locus nmar simulate nmar.noise=0 --out new", 1, {"does not vary", "nmar.noise"}},
      {"a_folder_instead_of_files", "mkdir rest", "locus fmri check rest", 1, {"rest", "folder", "rest/*"}},
      {"a_subject_pattern_that_does_not_match",
       "mkdir -p rest; for i in $(seq 40); do echo 1.$i,2.$i; done >rest/sub-1.csv",
       "locus fmri check 'rest/*.csv' --set 'series.subject_pattern=subj([0-9]+)'",
       1,
       {"sub-1.csv", "series.subject_pattern="}},
      {"a_manifest_of_files_that_are_not_there",
       "printf 'subject,run,path\\n1,1,absent.csv\\n' >man.csv",
       "locus fmri check man.csv",
       1,
       {"man.csv:2", "absent.csv"}},
      {"a_pipe_instead_of_a_file",
       "rm -f pipe.csv; mkfifo pipe.csv",
       "locus inspect pipe.csv",
       1,
       {"pipe.csv", "not a file"}},
      {"a_pipe_among_the_runs",
       "rm -f pipe.csv; mkfifo pipe.csv",
       "locus fmri check pipe.csv",
       1,
       {"pipe.csv", "not a file"}},
      {"a_pipe_as_configuration",
       "rm -f pipe.csv; mkfifo pipe.csv",
       "locus train pipe.csv --out new",
       2,
       {"pipe.csv", "pipe"}},
      {"labels_of_other_tokens",
       "echo a,b,c >s.csv; for i in $(seq 40); do echo 1.$i,2.$((i*7%11)),3.$((i*5%13)); done >>s.csv; "
       "printf 'electrode,network\\nFz,1\\nCz,2\\nPz,2\\n' >t.csv",
       "locus fit s.csv --labels t.csv --out new",
       1,
       {"s.csv", "electrode: Fz, Cz, Pz", "series.atlas_names", "series.match=order"}},
      {"subjects_or_runs",
       "mkdir who; for f in 1_1 1_2 2_1; do for i in $(seq 20); do echo 1.$i,2.$((i*7%11)); done >who/$f.csv; done",
       "locus fmri check 'who/*.csv'",
       1,
       {"which part of the file names is the subject", "word 1", "word 2", "series.subject_pattern="}},
      {"one_subject_written_in_two_ways",
       "mkdir zeros; for s in sub-1_a sub-01_b; do for i in $(seq 20); do echo 1.$i,2.$((i*7%11)); done >zeros/$s.csv; done",
       "locus fmri check 'zeros/*.csv'",
       1,
       {"one person, or two", "sub-1_a.csv", "sub-01_b.csv"}},
      {"the_same_recording_in_training_and_test",
       "mkdir copies; for s in 1 2; do for i in $(seq 40); do echo 1.$((i*s%17)),2.$((i*7%11)); done >copies/sub-$s.csv; "
       "done; "
       "cp copies/sub-1.csv copies/sub-3.csv",
       "locus train masked.toml 'series.files=[\"copies/*.csv\"]' series.test_last=1 --out new",
       1,
       {"same recording", "sub-1.csv", "sub-3.csv", "train", "test"}},
      {"an_index_among_the_tokens",
       "for i in $(seq 40); do echo $i,2.$((i*7%11)),3.$((i*5%13)); done >s.csv",
       "locus fit s.csv --out new",
       1,
       {"s.csv", "like an index or a clock", "series.skip_columns"}},
      {"a_first_row_that_may_be_a_header",
       "echo 10,20,30 >s.csv; for i in $(seq 40); do echo $((i*7%11)),$((i*5%13)),$((i*3%7)); done >>s.csv",
       "locus fit s.csv --out new",
       1,
       {"s.csv", "header of numbers", "series.header"}},
      {"too_many_puzzles", "", "locus lst generate new --per-difficulty 4294967297", 2, {"4294967297", "1000000"}},
      {"samples_with_ragged_rows", "printf '1,2,3\\n1,2\\n' >s.csv", "locus fit s.csv --out new", 1, {"s.csv"}},
      {"samples_that_are_text", "printf 'a,b\\nc,d\\n' >s.csv", "locus fit s.csv --out new", 1, {"s.csv"}},
      {"no_file_matches", "", "locus train masked.toml 'series.files=[\"rest/*.h5\"]' --out new", 1, {"rest/*.h5"}},
      {"fixed_mask_of_a_token_that_is_not_there",
       "",
       "locus train nmar.toml mask.kind=fixed 'mask.tokens=[99]' --out new",
       2,
       {"99"}},
  };
  return all;
}

class BadInputTest : public testing::TestWithParam<Bad> {
 public:
  static void SetUpTestSuite() {
    place_ = new Workplace("bad");
    const std::string masked =
        "study = \"masked\"\n[model]\nlayers = 1\nwidth = 8\nreadout = \"masked\"\n[stop]\nepochs = 0\nsteps = 2\n";
    write(*place_ / "tiny.toml", cli_testing::kTiny);
    write(*place_ / "masked.toml", masked + "[series]\nsource = \"files\"\n");
    write(*place_ / "nmar.toml",
          masked + "[nmar]\nsizes = [3, 3]\ntrain_samples = 50\nvalidation_samples = 10\ntest_samples = 10\n");
    const Result r = place_->shell("locus train tiny.toml --out run --quiet");
    ASSERT_EQ(r.code, 0) << r.err;
  }
  static void TearDownTestSuite() {
    delete place_;
    place_ = nullptr;
  }
  static Workplace* place_;
};
Workplace* BadInputTest::place_ = nullptr;

std::vector<std::string> listing(const std::filesystem::path& folder) {
  std::vector<std::string> out;
  for (const auto& e : std::filesystem::recursive_directory_iterator(folder)) out.push_back(e.path().string());
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

TEST_P(BadInputTest, gets_a_clear_message_and_leaves_nothing) {
  const Bad& bad = GetParam();
  ASSERT_EQ(place_->shell(std::string("rm -rf c.toml d.toml p.csv s.csv t.* plain; set -e\n") + bad.setup).code, 0);
  const auto before = listing(place_->folder());
  const Result r = place_->shell(bad.command);
  EXPECT_EQ(r.code, bad.code) << r.out << r.err;
  for (const char* part : bad.says)
    EXPECT_NE(r.err.find(part), std::string::npos) << "missing '" << part << "' in:\n" << r.err;
  EXPECT_EQ(count(r.err, "error: "), bad.code == 2 && count(r.err, "error: ") == 0 ? 0u : 1u) << r.err;
  for (const char* never : {"terminate", "what()", ".cpp:", "check failed", "Segmentation", "std::"})
    EXPECT_EQ(r.err.find(never), std::string::npos) << r.err;
  EXPECT_EQ(before, listing(place_->folder())) << "something was left behind";
}

INSTANTIATE_TEST_SUITE_P(Cases, BadInputTest, testing::ValuesIn(cases()),
                         [](const auto& given) { return std::string(given.param.name); });

TEST(BadInputCoverageTest, there_are_many_kinds) { EXPECT_GE(cases().size(), 50u); }

TEST(FullDiskTest, is_told_before_training_starts) {
  Workplace place("disk");
  write(place / "tiny.toml", cli_testing::kTiny);
  if (place.shell("mkdir small && unshare -m true && unshare -m mount -t tmpfs -o size=1m tmpfs small").code != 0)
    GTEST_SKIP() << "needs the right to mount a small file system";
  const Result r = place.shell("unshare -m bash -c 'mount -t tmpfs -o size=1m tmpfs small && \"" + locus::test::binary() +
                               "\" train tiny.toml --out small/new; code=$?; ls -A small; exit $code'");
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_NE(r.err.find("not enough disk space"), std::string::npos) << r.err;
  EXPECT_NE(r.err.find("hint"), std::string::npos) << r.err;
  EXPECT_EQ(r.out, "") << "nothing is left";
}

TEST(ReadOnlyFolderTest, is_told_before_training_starts) {
  Workplace place("readonly");
  write(place / "tiny.toml", cli_testing::kTiny);
  const char* train = "locus train tiny.toml --out shut/new";
  Result r;
  if (::geteuid() == 0) {  // permissions do not bind root: a read-only mount does
    if (place.shell("mkdir shut && unshare -m mount -t tmpfs -o ro tmpfs shut").code != 0)
      GTEST_SKIP() << "needs the right to mount";
    r = place.shell("unshare -m bash -c 'mount -t tmpfs -o ro tmpfs shut && \"" + locus::test::binary() +
                    "\" train tiny.toml --out shut/new'");
  } else {
    r = place.shell(std::string("mkdir shut; chmod 555 shut\n") + train + "\ncode=$?; chmod 755 shut; exit $code");
  }
  EXPECT_EQ(r.code, 1) << r.err;
  EXPECT_NE(r.err.find("shut"), std::string::npos) << r.err;
  EXPECT_EQ(count(r.err, "error: "), 1u) << r.err;
}

}  // namespace
}  // namespace locus

#include "data/subjects.h"

#include <gtest/gtest.h>

#include <functional>

#include "core/error.h"

namespace locus {
namespace {

using Ids = std::vector<std::string>;

Subjects of(const std::vector<std::string>& paths, const std::string& pattern = "") {
  std::vector<NamedFile> files;
  for (const std::string& p : paths) files.push_back({p, false});
  return subjects_of(files, pattern);
}

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(SubjectsTest, a_run_is_never_taken_for_the_subject) {
  std::vector<std::string> paths;
  Ids want;
  for (const char* person : {"1", "2", "3"}) {
    for (const char* run : {"9", "10", "11"}) {
      paths.push_back(std::string("data/p") + person + "_run" + run + ".csv");
      want.emplace_back(person);
    }
  }
  const Subjects found = of(paths);
  EXPECT_EQ(found.ids, want);
  EXPECT_NE(found.note.find("the number after 'p'"), std::string::npos) << found.note;
  EXPECT_EQ(of({"1_run-100.npy", "1_run-101.npy", "2_run-100.npy"}).ids, (Ids{"1", "1", "2"}));
  EXPECT_EQ(of({"p1run9.npy", "p1run10.npy", "p2run9.npy"}).ids, (Ids{"1", "1", "2"}));
  EXPECT_EQ(of({"100206_REST_LR.npy", "100206_REST_RL.npy", "100307_REST_LR.npy"}).ids, (Ids{"100206", "100206", "100307"}));
  EXPECT_EQ(of({"anna/run1.npy", "anna/run2.npy", "berta/run1.npy"}).ids, (Ids{"anna", "anna", "berta"}));
}

TEST(SubjectsTest, bids_goes_before_everything_else) {
  EXPECT_EQ(of({"sub-01_ses-1_run-1.npy", "sub-01_ses-2_run-1.npy", "sub-02_ses-1_run-1.npy"}).ids, (Ids{"01", "01", "02"}));
  EXPECT_EQ(of({"x/sub-A/func/run1.npy", "x/sub-B/func/run1.npy"}).ids, (Ids{"A", "B"}));
  EXPECT_NE(message_of([] { of({"sub-1/sub-2_x.npy"}); }).find("two subjects"), std::string::npos);
  EXPECT_NE(message_of([] { of({"sub-1.npy", "two.npy"}); }).find("sub-XX"), std::string::npos);
}

TEST(SubjectsTest, one_differing_part_is_the_subject) {
  EXPECT_EQ(of({"HCP_restrun1_subj100206_data.h5", "HCP_restrun1_subj100408_data.h5"}).ids, (Ids{"100206", "100408"}));
  EXPECT_EQ(of({"101309.mat", "102311.mat"}).ids, (Ids{"101309", "102311"}));
  EXPECT_EQ(of({"rest_100206.npy", "rest_100307.npy"}).ids, (Ids{"100206", "100307"}));
  EXPECT_EQ(of({"anna.csv", "berta.csv"}).ids, (Ids{"anna", "berta"}));
  EXPECT_EQ(of({"run1_subj100206_data.npy"}).ids, (Ids{"100206"})) << "one file is one subject";
  const Subjects lists = subjects_of({{"in_1.npy", false}, {"in_2.npy", false}, {"out_1.npy", true}}, "");
  EXPECT_EQ(lists.ids, (Ids{"1", "2", "1"})) << "what differs between the two lists tells nobody apart";
}

TEST(SubjectsTest, a_doubt_shows_the_candidates_and_the_key) {
  for (const std::vector<std::string>& paths :
       std::vector<std::vector<std::string>>{{"1_1.npy", "1_2.npy", "2_1.npy"},
                                             {"Pitt_0050003_rois.1D", "Pitt_0050004_rois.1D", "Olin_0050102_rois.1D"},
                                             {"anna1.npy", "anna2.npy", "bert1.npy"},
                                             {"anna.npy", "anna2.npy"},
                                             {"p1_a.npy", "p1_b_c.npy"},
                                             {"run1.npy", "run2.npy"},
                                             {"p1_s1.npy", "p1_s2.npy", "p2_s1.npy"}}) {
    const std::string message = message_of([&] { of(paths); });
    EXPECT_NE(message.find("which part of the file names is the subject"), std::string::npos) << paths[0] << message;
    EXPECT_NE(message.find("series.subject_pattern"), std::string::npos) << paths[0] << message;
  }
  const std::string message = message_of([] { of({"1_1.npy", "1_2.npy", "2_1.npy"}); });
  EXPECT_NE(message.find("word 1 of the file's name (2 subjects: 1, 2)"), std::string::npos) << message;
  const std::string first = "series.subject_pattern='";
  const std::size_t at = message.find(first) + first.size();
  const std::string pattern = message.substr(at, message.find('\'', at) - at);
  EXPECT_EQ(of({"1_1.npy", "1_2.npy", "2_1.npy"}, pattern).ids, (Ids{"1", "1", "2"})) << "the pattern shown works";
}

TEST(SubjectsTest, zeros_and_case_do_not_make_two_people_of_one) {
  EXPECT_NE(message_of([] { of({"sub-1_a.npy", "sub-01_b.npy"}); }).find("one person, or two"), std::string::npos);
  EXPECT_NE(message_of([] { of({"sub-A1.npy", "sub-a01.npy"}); }).find("one person, or two"), std::string::npos);
  EXPECT_NE(message_of([] { of({"s1_rest.npy", "s01_task.npy"}, "s([0-9]+)"); }), "");
  EXPECT_EQ(message_of([] { of({"sub-1.npy", "sub-10.npy"}); }), "");
  EXPECT_THROW(refuse_near_ids({"7", "007"}, {"a", "b"}), DataError);
}

}  // namespace
}  // namespace locus

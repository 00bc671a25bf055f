// Whose recording a file is, told from the names of all files together: a wrong guess would put one person into training
// and test, so that a doubt is an error that shows the candidates and the key that settles it.
#pragma once

#include <string>
#include <vector>

namespace locus {

struct NamedFile {
  std::string path;
  bool further = false;  // from series.test_files: compared within its own list
};

struct Subjects {
  std::vector<std::string> ids;  // of each file
  std::string note;              // which part of the names was taken; empty for sub-XX and a given pattern
};

// With a pattern its first group. Else "sub-XX" (BIDS) of the file's name, or of the nearest folder. Else the only part
// of the names that can be the subject: parts that differ between the files, without those called run, session, task and
// the like; a part called subject, participant, p and the like goes before. DataError when two parts would make
// different groups of files. One file alone is one subject.
Subjects subjects_of(const std::vector<NamedFile>& files, const std::string& pattern);

// DataError when two ids differ in leading zeros, case or blanks alone: one person, or two?
void refuse_near_ids(const std::vector<std::string>& ids, const std::vector<std::string>& paths);

}  // namespace locus

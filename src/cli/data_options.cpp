#include "cli/data_options.h"

namespace locus::cli {

void add_data_options(CLI::App* c, DataOptions& o) {
  c->add_option(
       "files", o.words,
       "One table of samples x tokens (CSV, TSV, NPY, NPZ, MAT, HDF5), pictures (an array, an IDX file, a folder of "
       "PNG files), or region time series: files of all subjects, or their folder; and key=value settings")
      ->required();
  add_data_flags(c, o);
}

void add_data_flags(CLI::App* c, DataOptions& o) {
  c->add_option("--target", o.target, "What is predicted: columns, an array of the file, or a file (default: hidden tokens)")
      ->delimiter(',')
      ->allow_extra_args(false);
  c->add_option("--task", o.task, "classify, regress or masked (default: told from the target)");
  c->add_option("--groups", o.groups, "Column or file: samples of one group stand on one side of the split; or none");
  c->add_option("--missing", o.missing, "mask: a missing value is a hidden token; error (default)");
  c->add_flag("--images", o.images, "The array holds pictures: N x H x W (x C)");
  c->add_option("--labels", o.labels, "CSV of tokens: name and label, network or coordinates");
  c->add_option("--dataset", o.dataset, "Name of the matrix in files with several");
  c->add_flag("--random-split", o.random_split, "Without a target: test on random rows instead of the last block");
}

}  // namespace locus::cli

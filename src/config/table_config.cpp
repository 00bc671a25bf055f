#include "config/table_config.h"

namespace locus {

void describe(TableConfig& c, FieldList& list) {
  list.section("table", "a user's own samples: what is predicted, what the columns are, how they are split");
  list.text("file", c.file, "samples x tokens (x features): CSV, TSV, NPY, NPZ, MAT or HDF5").identity = false;
  list.text("dataset", c.dataset, "name of the NPZ array, HDF5 data set or MATLAB variable; empty: the only one that fits");
  list.text("labels", c.labels, "CSV of tokens: a name, and a label, network or coordinates").identity = false;
  list.texts("target", c.target, "what is predicted: columns (by name, or number from 1), an array of the file, or a file")
      .identity = false;
  list.choice("header", c.header, kHeaderRowNames, "whether the first row of a text file names the columns");
  list.texts("skip", c.skip,
             "columns that are no tokens, beside index, time and ids, which are found; none: only those named here");
  list.texts("categories", c.categories, "columns of numbers that stand for kinds, not amounts");
  list.choice("missing", c.missing, kMissingValuesNames, "a missing value: an error, or a hidden token");
  list.choice("constant", c.constant, kConstantTokensNames, "tokens with one value in (almost) all of training");
  list.number("constant_share", c.constant_share, {0.5, 1.0},
              "part of the training samples with one value from which on a token counts as constant");
  list.choice("scale", c.scale, kTokenScaleNames,
              "numbers to mean 0 and deviation 1 of training: each token, all with one scale, or not at all");
  list.choice("split", c.split, kTableSplitNames,
              "samples of test and validation: drawn, drawn by class, whole groups, the end of the table, or given");
  list.text("groups", c.groups, "column or file: samples of one group never stand on both sides; none: there are no groups")
      .identity = false;
  list.text("split_column", c.split_column, "column or file with train, validation or test of each sample (split = given)")
      .identity = false;
  list.number("test_fraction", c.test_fraction, {0.01, 0.9}, "part of the samples for testing");
  list.number("validation_fraction", c.validation_fraction, {0, 0.9}, "part of the samples for validation");
  list.integer("split_seed", c.split_seed, {0, 9e15}, "seed of drawn splits");
  list.choice("leaks", c.leaks, kSplitLeaksNames, "equal samples in training and test: an error, or allowed");
}

void describe(ImagesConfig& c, FieldList& list) {
  list.section("images", "pictures as tokens");
  list.text("files", c.files, "array N x H x W (x C), IDX file, or folder of PNG files").identity = false;
  list.text("dataset", c.dataset, "name of the NPZ array, HDF5 data set or MATLAB variable; empty: the only one that fits");
  list.integer("patch", c.patch, {1, 1024}, "a token is a square of so many pixels a side");
  list.integer("shuffle", c.shuffle, {-1, 9e15},
               "seed of one fixed order of the tokens that the model is not told (-1: none)");
}

}  // namespace locus

#include "config/masked_config.h"

namespace locus {

void describe(SeriesConfig& c, FieldList& list) {
  list.section("series", "samples x tokens for masked prediction");
  list.choice("source", c.source, kSeriesSourceNames, "simulate a network (nmar) or read files");
  list.texts("files", c.files, "files or globs, one run each (source = files)").identity = false;
  list.texts("test_files", c.test_files,
             "further files of other subjects, never trained on: split test, or further when there is a test split")
      .identity = false;
  list.text("manifest", c.manifest, "CSV with subject,run,path instead of files").identity = false;
  list.text("dataset", c.dataset, "name of the HDF5 data set or MATLAB variable; empty: the only matrix");
  list.text(
      "subject_pattern", c.subject_pattern,
      "regular expression whose first group is the subject; empty: sub-XX, else the part of the names that can only be it");
  list.choice("orientation", c.orientation, kOrientationNames, "which axis of a file is time");
  list.integer("skip_frames", c.skip_frames, {0, 1e9}, "frames dropped at the start of each run");
  list.choice("detrend", c.detrend, kDetrendNames, "remove a line from each region and run");
  list.choice("zscore", c.zscore, kZScoreNames, "scale per region within each run, by the training runs, or not at all");
  list.choice("coverage", c.coverage, kCoverageNames, "missing, constant or NaN regions: an error, or dropped by name");
  list.text("atlas", c.atlas, "CSV/TSV of regions: name, network, hemisphere, x, y, z").identity = false;
  list.text("atlas_names", c.atlas_names,
            "column of the atlas with the names or ids of the regions; empty: the one that holds those of the files");
  list.choice("match", c.match, kTokenMatchingNames,
              "regions of files and atlas: by name or id where there are any, or by order");
  list.choice("header", c.header, kHeaderRowNames, "whether the first row of a text file names the columns");
  list.texts("skip_columns", c.skip_columns,
             "columns that are no tokens, by name or number (from 1), beside time, index and ids, which are found; none: "
             "only those named here");
  list.text("hemisphere", c.hemisphere, "keep only regions of this hemisphere (as the atlas writes it)");
  list.integer("window", c.window, {1, 10000}, "frames a token carries");
  list.choice("split_by", c.split_by, kSplitByNames,
              "what never stands on both sides: a subject, a run, a block of time (the end of each run), a sample (drawn)");
  list.texts("test_subjects", c.test_subjects, "subjects of the test split");
  list.integer("test_last", c.test_last, {0, 1e9}, "take the last so many subjects (by id) for testing");
  list.integer("leave_out", c.leave_out, {-1, 1e9},
               "test on the subject of this rank by id, from 0 (-1: off); goes before the rules above");
  list.number("test_fraction", c.test_fraction, {0, 0.9},
              "otherwise this part of subjects or runs (the last by id), time (the end) or samples");
  list.number("validation_fraction", c.validation_fraction, {0, 0.9}, "part of the rest kept for validation");
  list.integer("graph_neighbours", c.graph_neighbours, {1, 100000},
               "neighbours a token keeps in the graph of Laplacian eigenvectors");
}

void describe(MaskConfig& c, FieldList& list) {
  list.section("mask", "which tokens are hidden");
  list.choice("kind", c.kind, kMaskKindNames, "random tokens, a fixed set, or one whole network or hemisphere a sample");
  list.number("ratio", c.ratio, {0.0, 1.0}, "part of the tokens hidden (kind = random)");
  list.integer("count", c.count, {0, 1e9}, "hide exactly so many instead of a ratio (0: use the ratio)");
  list.whole_numbers("tokens", c.tokens, {0, 1e9}, "indices hidden (kind = fixed)");
  list.choice("loss", c.loss, kMaskLossNames, "error on the hidden tokens or on all");
  list.choice("vector", c.vector, kMaskVectorNames, "what a hidden token shows: a learned vector or zero");
  list.integer("eval_seed", c.eval_seed, {0, 9e15}, "seed of the masks of evaluation, the same for every run");
}

void describe(NmarConfig& c, FieldList& list) {
  list.section("nmar", "the nonlinear stochastic network");
  list.numbers("sizes", c.sizes, {-1e9, 1e9}, "nodes of each module");
  list.number("p_in", c.p_in, {0, 1}, "probability of an edge within a module");
  list.number("p_out", c.p_out, {0, 1}, "probability of an edge between modules");
  list.integer("hub_module", c.hub_module, {-1, 1e6}, "module whose nodes connect to all others with hub_p_out (-1: none)");
  list.number("hub_p_out", c.hub_p_out, {0, 1}, "probability of an edge between the hub module and the others, either way");
  list.number("weight_mean", c.weight_mean, {-1e6, 1e6},
              "mean of the edge weights before each row is divided by the sum of its absolute values");
  list.number("weight_sd", c.weight_sd, {0, 1e6}, "their standard deviation");
  list.number("gain", c.gain, {0, 1e6}, "g in x' = f(g W x + drive) + s e");
  list.number("noise", c.noise, {0, 1e6}, "s, the noise added each step");
  list.number("drive", c.drive, {-1e6, 1e6}, "input added to g W x (its amplitude when drive_period > 0)");
  list.number("drive_period", c.drive_period, {0, 1e9}, "steps of one period of a sinusoidal input (0: a constant one)");
  list.whole_numbers("drive_modules", c.drive_modules, {0, 1e6}, "modules that get the input; empty: all");
  list.number("module_drive", c.module_drive, {0, 1e6},
              "standard deviation of a slow random input that each module has of its own, added to g W x (0: none)");
  list.number("module_drive_time", c.module_drive_time, {0.1, 1e9}, "its correlation time in steps");
  list.choice("nonlinearity", c.nonlinearity, kNonlinearityNames, "f");
  list.integer("average", c.average, {1, 100000}, "steps averaged into one sample");
  list.number("hrf_tr", c.hrf_tr, {0, 100}, "seconds a step for the haemodynamic filter (0: no filter)");
  list.integer("burn_in", c.burn_in, {0, 1e9}, "steps dropped at the start");
  list.integer("train_samples", c.train_samples, {1, 1e9}, "training samples");
  list.integer("validation_samples", c.validation_samples, {0, 1e9}, "samples of an independent run for choosing settings");
  list.integer("test_samples", c.test_samples, {1, 1e9}, "samples of another independent run for reporting");
  list.integer("graph_seed", c.graph_seed, {0, 9e15}, "seed of the network and the noise, apart from the run's seed");
  list.flag("shuffle_nodes", c.shuffle_nodes, "permute the nodes so that their order carries nothing");
}

}  // namespace locus

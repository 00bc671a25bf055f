#include "config/lst_config.h"

namespace locus {

void describe(LstConfig& c, FieldList& list) {
  list.section("lst", "Latin-square puzzles");
  list.choice("source", c.source, kLstSourceNames, "generate our own puzzles, or read the authors' four CSV files");
  list.text("dir", c.dir, "folder of the authors' CSV files (source = authors)").identity = false;
  list.integer("n", c.n, {3, 9}, "side of the square");
  list.integer("pool_seed", c.pool_seed, {0, 9e15}, "seed of the puzzles and of the split, apart from the run's seed");
  list.integer("per_difficulty", c.per_difficulty, {1, 1000000}, "puzzles per difficulty in the pool");
  list.number("test_fraction", c.test_fraction, {0, 0.9}, "part of the pool kept for the test split");
  list.integer("heldout_items", c.heldout_items, {1, 10000}, "base items per difficulty in heldout and validation");
  list.integer("rotations", c.rotations, {1, 4}, "rotations of each base item");
  list.number("min_distance", c.min_distance, {0, 1}, "least Jaccard distance between the pool and the held-out puzzles");
  list.flag("relabel", c.relabel, "rename the symbols of every training puzzle at random, anew each time it is seen");
}

}  // namespace locus

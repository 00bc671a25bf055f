// What happens to examples on their way into a step.
#include "train/batches.h"

#include <gtest/gtest.h>

#include <set>

namespace locus {
namespace {

// Two blanks (-1), three classes and the mark of the target (3), all of them with label 1.
Examples puzzles(std::int64_t count) {
  Examples b;
  b.count = count;
  for (std::int64_t i = 0; i < count; ++i) {
    for (const int id : {0, 1, 2, -1, 3, 1, -1, 0}) b.ids.push_back(static_cast<std::int16_t>(id));
    b.labels.push_back(1);
  }
  return b;
}

constexpr std::int64_t kTokens = 8;

ModelShape shape() {
  ModelShape s;
  s.tokens = kTokens;
  s.outputs = 3;
  return s;
}

TEST(RelabelTest, renames_classes_and_the_label_alike_and_leaves_blanks_and_the_mark) {
  Examples batch = puzzles(500);
  const Examples before = batch;
  Rng rng(7, "relabel");
  relabel_classes(rng, shape(), batch);
  std::set<std::vector<std::int16_t>> seen;
  for (std::int64_t i = 0; i < batch.count; ++i) {
    const auto* was = before.ids.data() + i * kTokens;
    const auto* is = batch.ids.data() + i * kTokens;
    const std::vector<std::int16_t> names{is[0], is[1], is[2]};
    EXPECT_EQ(std::set<std::int16_t>(names.begin(), names.end()), (std::set<std::int16_t>{0, 1, 2}));
    for (std::int64_t t = 0; t < kTokens; ++t) {
      const bool is_class = was[t] >= 0 && was[t] < 3;
      EXPECT_EQ(is[t], is_class ? names[static_cast<std::size_t>(was[t])] : was[t]);
    }
    EXPECT_EQ(batch.labels[static_cast<std::size_t>(i)], names[1]);
    seen.insert(names);
  }
  EXPECT_EQ(seen.size(), 6U);
}

TEST(RelabelTest, the_same_draw_gives_the_same_names) {
  Examples a = puzzles(20), b = puzzles(20);
  Rng first(3, "relabel"), second(3, "relabel");
  relabel_classes(first, shape(), a);
  relabel_classes(second, shape(), b);
  EXPECT_EQ(a.ids, b.ids);
  EXPECT_EQ(a.labels, b.labels);
}

}  // namespace
}  // namespace locus

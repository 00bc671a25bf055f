// Arrays of a program as a data set.
#include "data/arrays.h"

#include <gtest/gtest.h>

#include <limits>

#include "config/load.h"
#include "core/error.h"
#include "core/rng.h"

namespace locus {
namespace {

ArrayData table(std::int64_t classes, std::int64_t outputs) {
  ArrayData data;
  data.tokens = 4;
  data.classes = classes;
  data.outputs = outputs;
  Rng rng(1, "arrays");
  for (const auto& [name, count] : {std::pair{"train", 30}, {"test", 10}}) {
    ArraySplit s;
    s.name = name;
    s.count = count;
    for (int i = 0; i < count * 4; ++i) s.values.push_back(static_cast<float>(rng.normal()));
    for (int i = 0; classes > 0 && i < count; ++i) s.labels.push_back(static_cast<std::int32_t>(i % classes));
    for (int i = 0; i < count * outputs; ++i) s.targets.push_back(static_cast<float>(i));
    data.splits.push_back(std::move(s));
  }
  return data;
}

RunConfig config_for(const std::string& task) { return load_run_config("", arrays_settings(task)); }

std::string error_of(const RunConfig& config, ArrayData data) {
  try {
    make_arrays_dataset(config, std::move(data));
  } catch (const Error& e) {
    return e.what();
  }
  return "";
}

TEST(ArraysTest, classes_numbers_and_hidden_tokens_become_tasks) {
  const Dataset classes = make_arrays_dataset(config_for("classify"), table(3, 0));
  EXPECT_EQ(classes.task, "classify");
  EXPECT_EQ(classes.outputs, 3);
  const Dataset numbers = make_arrays_dataset(config_for("regress"), table(0, 2));
  EXPECT_EQ(numbers.task, "regress");
  EXPECT_EQ(numbers.outputs, 2);
  EXPECT_TRUE(numbers.split("test").masks.empty());
  const Dataset hidden = make_arrays_dataset(config_for("masked"), table(0, 0));
  EXPECT_EQ(hidden.outputs, 1);
  EXPECT_EQ(hidden.split("test").masks.size(), 40u);
  EXPECT_EQ(hidden.tokens_info.graph.rows(), 4);
}

TEST(ArraysTest, the_hash_sees_values_labels_and_targets) {
  const std::string one = make_arrays_dataset(config_for("classify"), table(3, 0)).hash;
  EXPECT_EQ(one, make_arrays_dataset(config_for("classify"), table(3, 0)).hash);
  ArrayData other = table(3, 0);
  other.splits[1].labels[0] = 2;
  EXPECT_NE(one, make_arrays_dataset(config_for("classify"), other).hash);
  ArrayData numbers = table(0, 2);
  const std::string two = make_arrays_dataset(config_for("regress"), numbers).hash;
  numbers.splits[0].targets[5] += 1;
  EXPECT_NE(two, make_arrays_dataset(config_for("regress"), numbers).hash);
}

TEST(ArraysTest, what_makes_no_sense_is_refused) {
  ArrayData data = table(3, 0);
  data.splits[1].labels[4] = 3;
  EXPECT_NE(error_of(config_for("classify"), data).find("none of the classes"), std::string::npos);
  data = table(3, 0);
  data.splits[0].values[7] = std::numeric_limits<float>::infinity();
  EXPECT_NE(error_of(config_for("classify"), data).find("sample 1"), std::string::npos);
  data = table(0, 2);
  data.splits[0].targets.pop_back();
  EXPECT_NE(error_of(config_for("classify"), data).find("targets do not fit"), std::string::npos);
  data = table(3, 0);
  data.splits[0].name = "test";
  EXPECT_NE(error_of(config_for("classify"), data).find("no training data"), std::string::npos);
  EXPECT_NE(error_of(config_for("masked"), table(3, 0)).find("model.readout"), std::string::npos);
  EXPECT_NE(error_of(config_for("classify"), table(0, 0)).find("model.readout"), std::string::npos);
}

}  // namespace
}  // namespace locus

// Regression of whole samples: it learns, and its measures are those of its outputs; predictions equal the evaluator's.
#include <cmath>

#include "config/load.h"
#include "core/error.h"
#include "data/arrays.h"
#include "infer/predict.h"
#include "tests/train/train_testing.h"

namespace locus {
namespace {

// Two numbers of four tokens: a sum, and a token itself.
Dataset sums(const RunConfig& config) {
  ArrayData data;
  data.tokens = 4;
  data.outputs = 2;
  Rng rng(3, "sums");
  for (const auto& [name, count] : {std::pair{"train", 256}, {"test", 64}}) {
    ArraySplit s;
    s.name = name;
    s.count = count;
    for (int i = 0; i < count; ++i) {
      float x[4];
      for (float& v : x) s.values.push_back(v = static_cast<float>(rng.normal()));
      s.targets.push_back(x[0] + x[1]);
      s.targets.push_back(x[3]);
    }
    data.splits.push_back(std::move(s));
  }
  return make_arrays_dataset(config, std::move(data));
}

class ArraysTrainingTest : public TrainTest {};

TEST_F(ArraysTrainingTest, numbers_of_samples_are_learned_and_predicted_as_evaluated) {
  std::vector<std::string> settings = arrays_settings("regress");
  settings.insert(settings.end(), {"model.width=16", "model.layers=1", "stop.steps=400", "optim.lr=0.005"});
  const RunConfig config = load_run_config("", settings);
  const Dataset data = sums(config);
  const Summary summary = run("numbers", config, data, 2).summary;
  EXPECT_LT(*summary.find("test.mse"), 0.3) << "the targets have variances 2 and 1";

  const ModelStructure s = structure_for(config, data);
  EXPECT_EQ(s.mask_token, -1);
  AlignedBuffer<float> params(static_cast<std::size_t>(s.layout.floats()));
  load_parameters(s, model("numbers", "final"), params.data());
  Prepared prepared(s);
  prepared.update(params.data(), {});
  ThreadPool pool(2);
  const Examples& test = data.split("test");
  InputView view;
  view.count = test.count;
  view.values = test.values.data();
  const MatrixF outputs = predict(s, prepared, view, pool);
  EvalOptions options;
  options.keep_outputs = true;
  EXPECT_EQ(outputs, evaluate(s, prepared, data, "test", options, pool).outputs);
  double error = 0;
  for (std::size_t i = 0; i < test.targets.size(); ++i) error += std::pow(outputs.values()[i] - test.targets[i], 2);
  EXPECT_NEAR(error / static_cast<double>(test.targets.size()), *summary.find("test.mse"), 1e-6);
}

TEST_F(ArraysTrainingTest, hidden_tokens_are_predicted_as_evaluated_and_bad_inputs_refused) {
  const Dataset data = repeat_task();
  RunConfig config = tiny_config();
  config.study = "masked";
  config.model.readout = Readout::kMasked;
  const ModelStructure s = structure_for(config, data);
  AlignedBuffer<float> params(static_cast<std::size_t>(s.layout.floats()));
  initialize_parameters(s, config.seed, params.data());
  Prepared prepared(s);
  prepared.update(params.data(), {});
  ThreadPool pool(3);
  const Examples& test = data.split("test");
  InputView view;
  view.count = test.count;
  view.values = test.values.data();
  EXPECT_THROW(predict(s, prepared, view, pool), DataError);
  view.masked = test.masks.data();
  EvalOptions options;
  options.keep_outputs = true;
  EXPECT_EQ(predict(s, prepared, view, pool), evaluate(s, prepared, data, "test", options, pool).outputs);
  std::vector<float> bad = test.values;
  bad[17] = std::nanf("");
  view.values = bad.data();
  EXPECT_THROW(predict(s, prepared, view, pool), DataError);
}

}  // namespace
}  // namespace locus

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "config/load.h"
#include "core/error.h"
#include "core/json.h"

namespace locus {
namespace {

std::string message_of(const std::function<void()>& f) {
  try {
    f();
  } catch (const ConfigError& e) {
    return e.what();
  }
  return "no error";
}

TEST(ConfigTest, printed_toml_reads_back_to_the_same_configuration) {
  RunConfig a;
  for (const char* o : {"pe.sigma=0.35", "model.heads=4", "optim.group_lr=[*pe*=0.1, head*=2]", "nmar.sizes=[3,4]",
                        "pe.kind=t5", "pe.file=a \"b\"\\c"}) {
    apply_override(a, o);
  }
  RunConfig b;
  load_toml_text(b, to_toml(a), "text");
  EXPECT_EQ(to_toml(a), to_toml(b));
  EXPECT_EQ(to_toml(run_config_from_json(to_json(a), "json")), to_toml(a));
}

TEST(ConfigTest, every_field_changes_the_printed_text_and_identity_fields_the_hash) {
  RunConfig base;
  const std::string text = to_toml(base);
  const std::string hash = config_hash(base, "");
  const std::vector<std::string> names = describe(base).names();
  EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
  for (const std::string& name : names) {
    RunConfig changed;
    const FieldList list = describe(changed);
    const Field& f = list.find(name, "");
    EXPECT_FALSE(f.help.empty()) << name;
    if (const auto* flag = std::get_if<bool*>(&f.target)) {
      **flag = !**flag;
    } else if (const auto* i = std::get_if<std::int64_t*>(&f.target)) {
      **i += 1;
    } else if (const auto* d = std::get_if<double*>(&f.target)) {
      **d += 0.25;
    } else if (const auto* c = std::get_if<Choice>(&f.target)) {
      c->set((c->get() + 1) % static_cast<int>(c->names.size()));
    } else if (const auto* named = std::get_if<NamedChoice>(&f.target)) {
      *named->target = *named->target == named->names.front() ? named->names.back() : named->names.front();
    } else if (const auto* t = std::get_if<std::string*>(&f.target)) {
      **t += "x";
    } else if (const auto* v = std::get_if<std::vector<double>*>(&f.target)) {
      (*v)->push_back(1.5);
    } else {
      std::get<std::vector<std::string>*>(f.target)->push_back("x");
    }
    EXPECT_NE(to_toml(changed), text) << name;
    EXPECT_EQ(config_hash(changed, "") != hash, f.identity) << name;
  }
  EXPECT_NE(config_hash(base, "other data"), hash);
}

TEST(ConfigTest, typos_name_the_nearest_key_and_choice_with_line_and_column) {
  RunConfig c;
  const std::string key = message_of([&] { load_toml_text(c, "seed = 1\n[pe]\nsigm = 0.1\n", "a.toml"); });
  EXPECT_NE(key.find("a.toml:3:"), std::string::npos) << key;
  EXPECT_NE(key.find("did you mean pe.sigma?"), std::string::npos) << key;
  const std::string choice = message_of([&] { apply_override(c, "pe.kind=rotery"); });
  EXPECT_NE(choice.find("did you mean rotary?"), std::string::npos) << choice;
}

TEST(ConfigTest, wrong_types_and_ranges_are_refused) {
  RunConfig c;
  for (const char* bad : {"seed=1.5", "pe.sigma=abc", "pe.sigma=-1", "model.layers=true", "model.mlp_final_gelu=1",
                          "nmar.sizes=[a]", "seed", "=3", "model.heads=0"}) {
    EXPECT_NE(message_of([&] { apply_override(c, bad); }), "no error") << bad;
  }
}

TEST(ConfigTest, contradictions_are_refused) {
  for (const std::vector<std::string>& bad : std::vector<std::vector<std::string>>{{"model.heads=3"},
                                                                                   {"pe.init=file"},
                                                                                   {"pe.file=x.npy"},
                                                                                   {"optim.momentum=0.9"},
                                                                                   {"optim.schedule=cosine"},
                                                                                   {"stop.epochs=0"},
                                                                                   {"study=masked"},
                                                                                   {"lst.source=authors"},
                                                                                   {"pe.value_term=true"},
                                                                                   {"pe.dropout_at_eval=true"},
                                                                                   {"pe.buckets=6"},
                                                                                   {"optim.warmup_steps=5"}}) {
    EXPECT_NE(message_of([&] { load_run_config("", bad); }), "no error") << bad[0];
  }
}

TEST(ConfigTest, base_files_are_read_first_and_cycles_are_refused) {
  const std::string dir = ::testing::TempDir();
  std::ofstream(dir + "/locus_base.toml") << "seed = 5\n[pe]\nsigma = 0.7\n";
  std::ofstream(dir + "/locus_child.toml") << "base = \"locus_base.toml\"\n[pe]\nsigma = 0.9\n";
  const RunConfig c = load_run_config(dir + "/locus_child.toml", {});
  EXPECT_EQ(c.seed, 5);
  EXPECT_EQ(c.pe.sigma, 0.9);
  std::ofstream(dir + "/locus_loop.toml") << "base = \"locus_loop.toml\"\n";
  EXPECT_NE(message_of([&] { load_run_config(dir + "/locus_loop.toml", {}); }), "no error");
}

}  // namespace
}  // namespace locus

// Json: values, order of keys, numbers of all kinds, text in and out, and what hostile text may do.
#include "core/json.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

#include "core/error.h"

namespace locus {
namespace {

TEST(JsonTest, objects_keep_the_order_of_their_keys_until_sorted) {
  Json json;
  json["b"] = 1;
  json["a"]["y"] = true;
  json["a"]["x"] = nullptr;
  EXPECT_EQ(json.dump(), R"({"b":1,"a":{"y":true,"x":null}})");
  json["b"] = 2;
  EXPECT_EQ(json.dump(), R"({"b":2,"a":{"y":true,"x":null}})");
  json.sort_keys();
  EXPECT_EQ(json.dump(), R"({"a":{"x":null,"y":true},"b":2})");
  json.erase("a");
  EXPECT_EQ(json.dump(1), "{\n \"b\": 2\n}");
}

TEST(JsonTest, lists_of_pairs_become_objects) {
  EXPECT_EQ((Json{{"a", 1}, {"b", {1, 2}}}).dump(), R"({"a":1,"b":[1,2]})");
  EXPECT_EQ((Json{{"a", 1}, {2, 3}}).dump(), R"([["a",1],[2,3]])");
  EXPECT_EQ(Json::array({Json("a")}).dump(), R"(["a"])");
  EXPECT_EQ(Json(std::vector<bool>{true, false}).dump(), "[true,false]");
  EXPECT_EQ(Json(std::map<std::string, double>{{"z", 0.1}, {"k", 1}}).dump(), R"({"k":1.0,"z":0.1})");
}

TEST(JsonTest, numbers_keep_their_kind_and_every_bit) {
  const std::string text = R"([1,-1,1.0,-0.0,18446744073709551615,-9223372036854775808,0.1,1e-320,1.7976931348623157e+308])";
  const Json json = Json::parse(text);
  EXPECT_EQ(json.dump(), text.substr(0, text.find("1e-320")) + "1e-320,1.7976931348623157e+308]");
  EXPECT_TRUE(json[0].is_number_integer());
  EXPECT_FALSE(json[2].is_number_integer());
  EXPECT_EQ(json[4].get<std::uint64_t>(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(json[5].get<std::int64_t>(), std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(json[6].get<double>(), 0.1);
  EXPECT_EQ(json[0], json[2]) << "1 and 1.0 are equal";
  EXPECT_NE(Json(-1), Json(std::numeric_limits<std::uint64_t>::max()));
  EXPECT_EQ(Json(std::numeric_limits<double>::quiet_NaN()).dump(), "null");
}

TEST(JsonTest, reading_says_what_is_missing_or_of_another_type) {
  const Json json = Json::parse(R"({"text": "x", "list": [1, 2.5], "map": {"a": "b"}})");
  EXPECT_EQ(json["list"].get<std::vector<double>>(), (std::vector<double>{1, 2.5}));
  EXPECT_EQ((json["map"].get<std::map<std::string, std::string>>().at("a")), "b");
  EXPECT_EQ(json.value("text", "y"), "x");
  EXPECT_EQ(json.value("absent", 3), 3);
  EXPECT_EQ(json.find("absent"), json.end());
  EXPECT_EQ(json.find("map").key(), "map");
  EXPECT_THROW(json["text"].get<int>(), IoError);
  EXPECT_THROW(json["list"].get<std::string>(), IoError);
  EXPECT_THROW(json["list"].at(2), IoError);
  EXPECT_THROW(json["list"]["a"], IoError);
  EXPECT_THROW(json["absent"], IoError);
  EXPECT_THROW(json.value("text", 3), IoError);
}

TEST(JsonTest, objects_are_equal_in_any_order) {
  EXPECT_EQ(Json::parse(R"({"a":1,"b":[2]})"), Json::parse(R"({"b":[2],"a":1})"));
  EXPECT_NE(Json::parse(R"({"a":1,"b":[2]})"), Json::parse(R"({"b":[3],"a":1})"));
  EXPECT_NE(Json::parse(R"({"a":1})"), Json::parse(R"({"a":1,"b":null})"));
}

TEST(JsonTest, text_that_is_no_json_is_null) {
  for (const char* text : {"", "{", "[1,", "{\"a\":1}x", "nan", "'a'", "\"\xff\""}) {
    EXPECT_TRUE(Json::parse(text).is_null()) << text;
  }
  EXPECT_EQ(Json::parse(R"({"a":1,"a":2})").dump(), R"({"a":2})") << "the last one counts";
}

TEST(JsonTest, deep_nesting_is_refused_before_it_can_fill_the_stack) {
  EXPECT_TRUE(Json::parse(std::string(10'000'000, '[')).is_null());
  EXPECT_TRUE(Json::parse(std::string(1000, '[') + std::string(1000, ']')).is_null());
  EXPECT_EQ(Json::parse(std::string(100, '[') + std::string(100, ']')).size(), 1u);
}

TEST(JsonTest, text_that_is_not_utf8_is_replaced_or_refused) {
  const Json json = "a\xff";
  EXPECT_EQ(json.dump(), "\"a\xef\xbf\xbd\"");
  EXPECT_EQ(Json("ü").dump({.ascii = true}), R"("\u00fc")");
  EXPECT_THROW(json.dump({.strict = true}), IoError);
}

}  // namespace
}  // namespace locus

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace tsr::test_json {
namespace {

std::string error_of(auto call) {
  try {
    call();
  } catch (const JsonError& error) {
    return error.what();
  }
  return "none";
}

TEST(Json, ATextReadsAndWritesTheSame) {
  for (const char* text :
       {"null", "true", "false", "0", "-7", "18446744073709551615", "-9223372036854775808", "0.5",
        "1e+300", "-0.0", "\"\"", "\"a\\\"b\\\\\\n\\u0001\"", "\"\xC3\xA9\"", "[]", "{}",
        "[1,[2,[]],{}]", "{\"a\":[1,2.5],\"b\":{\"c\":null}}"}) {
    EXPECT_EQ(Json::parse(text).dump(), text);
    EXPECT_EQ(Json::parse(text).dump_in_order(), text);
  }
}

TEST(Json, MembersAreWrittenByKeyOrAsTheyWereAdded) {
  Json tree = {{"b", 1}, {"a", {1, 2}}};
  tree.append("aa", "x");
  EXPECT_EQ(tree.dump(), R"({"a":[1,2],"aa":"x","b":1})");
  EXPECT_EQ(tree.dump_in_order(), R"({"b":1,"a":[1,2],"aa":"x"})");
  EXPECT_EQ(tree.dump_in_order(1), "{\n \"b\": 1,\n \"a\": [\n  1,\n  2\n ],\n \"aa\": \"x\"\n}");
  EXPECT_EQ(Json::array({Json::object(), Json::array()}).dump_in_order(2), "[\n  {},\n  []\n]");
}

TEST(Json, TheLastOfEqualKeysCounts) {
  const Json tree = Json::parse(R"({"a":1,"b":2,"a":3,"c":4,"a":5})");
  EXPECT_EQ(tree.dump_in_order(), R"({"b":2,"c":4,"a":5})");
  EXPECT_EQ(tree.at("a").get<int64_t>(), 5);
}

TEST(Json, BracesMakeAnObjectOnlyOfPairsThatBeginWithATextEach) {
  EXPECT_EQ((Json{{"a", 1}}).dump(), R"({"a":1})");
  EXPECT_EQ((Json{{"a", 1}, {2, 3}}).dump(), R"([["a",1],[2,3]])");
  EXPECT_EQ((Json{{"a", 1, 2}}).dump(), R"([["a",1,2]])");
  EXPECT_EQ(Json::array({{"a", 1}}).dump(), R"([["a",1]])");
}

TEST(Json, NumbersAreReadOnlyAsWhatTheyAre) {
  const Json tree = Json::parse("[1, -1, 1.5, 9223372036854775808, 2147483648, true]");
  EXPECT_TRUE(tree[0].is_number_unsigned() && tree[0].is_number_integer());
  EXPECT_TRUE(tree[1].is_number_integer() && !tree[1].is_number_unsigned());
  EXPECT_TRUE(tree[2].is_number() && !tree[2].is_number_integer());
  EXPECT_EQ(tree[1].get<double>(), -1.0);
  EXPECT_EQ(tree[3].get<uint64_t>(), 9223372036854775808U);
  EXPECT_TRUE(tree[0].is_int64() && tree[1].is_int64() && tree[4].is_int64());
  EXPECT_FALSE(tree[2].is_int64() || tree[3].is_int64() || tree[5].is_int64());
  EXPECT_NE(error_of([&] { (void)tree[1].get<uint64_t>(); }).find("got -1"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)tree[2].get<int64_t>(); }).find("got 1.5"), std::string::npos);
  EXPECT_NE(error_of([&] { (void)tree[3].get<int64_t>(); }), "none");
  EXPECT_NE(error_of([&] { (void)tree[4].get<int32_t>(); }), "none");
  EXPECT_NE(error_of([&] { (void)tree[5].get<int64_t>(); }), "none");
  EXPECT_NE(error_of([&] { (void)tree.get<std::vector<int64_t>>(); }), "none");
  EXPECT_EQ(Json(std::numeric_limits<double>::infinity()).dump(), "null");
}

TEST(Json, NumbersAreEqualByValue) {
  EXPECT_TRUE(Json::parse("1") == 1);
  EXPECT_TRUE(Json::parse("1.0") == 1);
  EXPECT_TRUE(Json(size_t{3}) == int32_t{3});
  EXPECT_FALSE(Json(-1) == std::numeric_limits<uint64_t>::max());
  EXPECT_FALSE(Json::parse("1") == "1");
  EXPECT_FALSE(Json::parse("1") == true);
  EXPECT_TRUE(Json::parse("[1,{\"a\":2}]") == Json::parse("[1,{\"a\":2}]"));
}

TEST(Json, WhatIsAbsentOrOfAnotherTypeIsAnErrorThatNamesIt) {
  const Json tree = Json::parse(R"({"list":[1],"text":"x"})");
  EXPECT_EQ(error_of([&] { (void)tree.at("no"); }), "expected an object with 'no', got object");
  EXPECT_EQ(error_of([&] { (void)tree["list"].at(1); }),
            "expected a list of more than 1 values, got array");
  EXPECT_EQ(error_of([&] { (void)tree["text"].items(); }), "expected an object, got \"x\"");
  EXPECT_EQ(error_of([&] { (void)tree["text"].size(); }), "expected a list, got \"x\"");
  EXPECT_EQ(tree["text"].find("a"), nullptr);
  EXPECT_FALSE(tree.contains("no"));
}

TEST(Json, WhatIsNoJsonIsRefused) {
  for (const char* text :
       {"", "{", "[1,]", "{\"a\":1,}", "nul", "1 2", "\"\xFF\"", "{1:2}", "01"}) {
    EXPECT_FALSE(Json::try_parse(text).has_value()) << text;
    EXPECT_NE(error_of([&] { (void)Json::parse(text); }).find("parse_error"), std::string::npos);
  }
  EXPECT_NE(error_of([] { (void)Json("\xFF").dump(); }), "none");
  EXPECT_EQ(json_quoted("\xFF", true), "\"\xEF\xBF\xBD\"");
}

TEST(Json, NestingHasALimitAndNeverOverflowsTheStack) {
  const auto nested = [](size_t depth) {
    return std::string(depth, '[') + std::string(depth, ']');
  };
  EXPECT_EQ(Json::parse(nested(Json::kMaxDepth)).dump(), nested(Json::kMaxDepth));
  EXPECT_FALSE(Json::try_parse(nested(Json::kMaxDepth + 1)).has_value());
  EXPECT_FALSE(Json::try_parse(std::string(5'000'000, '[')).has_value());
}

TEST(Json, ValuesAreCopiedChangedAndErased) {
  Json tree;
  tree["list"].push_back(1);
  tree["list"].push_back(std::vector<std::string>{"a"});
  const Json copy = tree;
  tree["list"][0] = "other";
  tree["more"] = nullptr;
  EXPECT_EQ(copy.dump(), R"({"list":[1,["a"]]})");
  EXPECT_EQ(tree.dump(), R"({"list":["other",["a"]],"more":null})");
  tree.erase("list");
  EXPECT_EQ(tree.dump(), R"({"more":null})");
  EXPECT_EQ(short_text(tree), "object");
  EXPECT_EQ(short_text(Json(std::string(100, 'x'))).size(), 80U);
  std::string accents;
  for (int i = 0; i < 100; ++i) accents += "é";
  EXPECT_EQ(short_text(Json(accents)), "\"" + accents.substr(0, 2 * 79));
}

}  // namespace
}  // namespace tsr::test_json

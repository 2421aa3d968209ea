// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/export.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "profile/made_profile.h"
#include "profile/page.h"
#include "profile/summary.h"

namespace tsr::profile::test_export {
namespace {

using nlohmann::json;
using test::example_profile;

std::vector<json> with(const json& trace, const std::string& key, const std::string& value) {
  std::vector<json> found;
  for (const json& event : trace.at("traceEvents")) {
    if (event.value(key, "") == value) found.push_back(event);
  }
  return found;
}

json data_of(const std::string& page) {
  const size_t begin = page.find("const DATA = ") + 13;
  return json::parse(page.substr(begin, page.find(";\n", begin) - begin));
}

TEST(ChromeTrace, R11_has_spans_by_thread_and_stream_with_arrows_between) {
  const auto made = example_profile();
  const json trace = json::parse(chrome_trace(made.profile));
  EXPECT_EQ(with(trace, "ph", "X").size(), 8U);
  const json conv = with(trace, "name", "conv2d").at(0);
  EXPECT_EQ(conv.at("ts"), 0.1);
  EXPECT_EQ(conv.at("dur"), 0.3);
  EXPECT_EQ(conv.at("cat"), "cpu_op");
  EXPECT_EQ(conv.at("args").at("Input Dims"), json::parse("[[8,3],[4,3]]"));
  const json kernel = with(trace, "name", "conv_kernel").at(0);
  const json launch = with(trace, "name", "conv_backward").at(0);
  EXPECT_EQ(kernel.at("cat"), "kernel");
  EXPECT_NE(kernel.at("pid"), launch.at("pid"));
  const auto starts = with(trace, "ph", "s"), ends = with(trace, "ph", "f");
  ASSERT_EQ(starts.size(), 1U);
  ASSERT_EQ(ends.size(), 1U);
  EXPECT_EQ(starts[0].at("id"), ends[0].at("id"));
  EXPECT_EQ(starts[0].at("tid"), launch.at("tid"));
  EXPECT_EQ(starts[0].at("ts"), launch.at("ts"));
  EXPECT_EQ(ends[0].at("tid"), kernel.at("tid"));
  EXPECT_EQ(ends[0].at("ts"), kernel.at("ts"));
}

TEST(ChromeTrace, R11_names_threads_and_counts_memory) {
  const auto made = example_profile();
  const json trace = json::parse(chrome_trace(made.profile));
  std::vector<std::string> names;
  for (const json& label : with(trace, "name", "thread_name"))
    names.push_back(label["args"]["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"thread 1 main", "thread 2 worker", "stream 7"}));
  std::vector<int64_t> bytes;
  for (const json& counter : with(trace, "ph", "C")) bytes.push_back(counter["args"]["bytes"]);
  EXPECT_EQ(bytes, (std::vector<int64_t>{50, 4146, 4050}));
}

TEST(EventsJson, tells_all_facts) {
  auto made = example_profile();
  made.profile.lost = 3;
  const json all = json::parse(events_json(made.profile));
  EXPECT_EQ(all.at("lost"), 3);
  EXPECT_EQ(all.at("events").size(), made.profile.events.size());
  EXPECT_EQ(all["events"][0]["kind"], "range");
  EXPECT_EQ(all["events"][3]["flops"], 4000);
  EXPECT_EQ(all["activities"][0]["device"], "simulated:0");
  EXPECT_EQ(all["memory"][0]["bytes"], 50);
}

TEST(JsonText, escapes_what_a_name_may_contain) {
  test::Made made;
  made.profile.end = 10;
  made.add(TraceKind::kAnnotation, "a \"b\"\\\n\x01 </script>", 0, 10);
  EXPECT_EQ(json::parse(events_json(made.profile))["events"][0]["name"],
            "a \"b\"\\\n\x01 </script>");
  EXPECT_EQ(json::parse(chrome_trace(made.profile))["traceEvents"].size(), 2U);
}

// A thread's name is cut after 15 bytes, which may be in the middle of a character.
TEST(JsonText, replaces_what_is_not_utf8) {
  test::Made made;
  made.profile.end = 10;
  made.profile.threads = {{1, "cut \xc3"}};
  made.add(TraceKind::kAnnotation, "a\xff \u00e9 \"\n", 0, 10);
  const std::string name = "a\ufffd \u00e9 \"\n";
  EXPECT_EQ(json::parse(events_json(made.profile))["events"][0]["name"], name);
  EXPECT_EQ(json::parse(events_json(made.profile))["threads"][0]["name"], "cut \ufffd");
  EXPECT_EQ(with(json::parse(chrome_trace(made.profile)), "name", name).size(), 1U);
  EXPECT_EQ(
      json::parse(rows_json(summarize(made.profile, Group::kOps, SortBy::kSelf, {})))[0]["name"],
      name);
  EXPECT_NO_THROW(static_cast<void>(data_of(html_page(made.profile, {}))));
}

TEST(Page, R11_is_one_file_whose_data_ends_no_script) {
  test::Made made;
  made.profile.end = 10;
  made.add(TraceKind::kAnnotation, "</script> <!--<script>", 0, 10);
  const std::string page = html_page(made.profile, {});
  EXPECT_EQ(page.find("</script>"), page.rfind("</script>"));
  EXPECT_EQ(page.find("<script>"), page.rfind("<script>"));
  EXPECT_EQ(page.find("<!--"), std::string::npos);
  EXPECT_EQ(page.find("http"), page.find("http://www.w3.org/2000/svg"));  // a name, no address
  EXPECT_EQ(page.find("http", page.find("http") + 1), std::string::npos);
  EXPECT_NE(page.find("class ZoomRange"), std::string::npos);
  EXPECT_NE(page.find("--accent"), std::string::npos);
}

// The names of the boxes, each with those inside it: "step(exp tan)".
std::string boxes(const json& flame, const json& texts) {
  std::string inside;
  for (const json& inner : flame[4]) inside += (inside.empty() ? "" : " ") + boxes(inner, texts);
  const std::string name = texts[flame[0].get<size_t>()];
  return name + (inside.empty() ? "" : "{" + inside + "}");
}

TEST(Page, R11_frames_of_the_host_are_boxes_of_the_flame_graph) {
  test::Made made;
  made.profile.end = 100;
  made.add(TraceKind::kAnnotation, "step", 0, 100);
  made.add(TraceKind::kCall, "exp", 10, 50).texts =
      test::stack_text("/net/model.py:12 in forward\nmain.py:3 in <module>");
  made.add(TraceKind::kCall, "inner", 20, 30).texts = test::stack_text("lost.py:1 in lost");
  made.add(TraceKind::kCall, "tan", 60, 90).texts = test::stack_text("main.py:3 in <module>");
  const json data = data_of(html_page(made.profile, {}));
  EXPECT_EQ(boxes(data["flame"], data["texts"]),
            "{step{<module> (main.py:3){forward (model.py:12){exp{inner}} tan}}}");
  EXPECT_EQ(data["flame"][4][0][4][0][2], 70) << "the time of both calls";
}

TEST(Page, R11_what_follows_the_end_of_a_range_is_not_inside_it) {
  test::Made made;
  made.profile.end = 100;
  made.add(TraceKind::kAnnotation, "first", 0, 50);
  made.add(TraceKind::kAnnotation, "second", 20, 100);
  made.add(TraceKind::kCall, "exp", 60, 70);
  made.add(TraceKind::kCall, "tan", 80, 90);
  const json data = data_of(html_page(made.profile, {}));
  EXPECT_EQ(boxes(data["flame"], data["texts"]), "{first{second{exp tan}}}");
  std::vector<int64_t> depths;  // spans of one depth must not overlap
  for (size_t i = 4; i < data["tracks"][0]["spans"].size(); i += 6)
    depths.push_back(data["tracks"][0]["spans"][i]);
  EXPECT_EQ(depths, (std::vector<int64_t>{0, 1, 2, 2}));
}

TEST(Page, R11_overlapping_ranges_in_a_long_chain_are_drawn) {
  constexpr int64_t kCount = 100000;
  test::Made made;
  made.profile.end = 10 * kCount + 15;
  for (int64_t i = 0; i < kCount; ++i)
    made.add(TraceKind::kAnnotation, "step", 10 * i, 10 * i + 15);
  EXPECT_NE(html_page(made.profile, {}).find("step"), std::string::npos);
}

TEST(Page, R11_ranges_may_be_nested_to_any_depth) {
  constexpr int64_t kDepth = 100000;
  test::Made made;
  made.profile.end = 2 * kDepth;
  for (int64_t i = 0; i < kDepth; ++i)
    made.add(TraceKind::kAnnotation, "deeper", i, 2 * kDepth - i);
  const std::string page = html_page(made.profile, {});
  EXPECT_NE(page.find("deeper"), std::string::npos);
}

TEST(Page, escapes_its_title) {
  const std::string page = make_page("a < b & c", "", "", "{}");
  EXPECT_NE(page.find("<title>a &lt; b &amp; c</title>"), std::string::npos);
}

}  // namespace
}  // namespace tsr::profile::test_export

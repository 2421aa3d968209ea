// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "profile/page.h"

#include <algorithm>

#include "profile/embedded.h"

namespace tsr::profile {
namespace {

// Inside a script HTML reads "</script" as its end, and "<!--" with "<script" as the beginning of
// another one. In JSON "<" stands in texts alone, which may spell it otherwise.
void append_data(std::string& page, std::string_view data) {
  for (size_t at = 0; at < data.size();) {
    const size_t found = std::min(data.find('<', at), data.size());
    page.append(data.substr(at, found - at));
    if (found < data.size()) page.append("\\u003c");
    at = found + 1;
  }
}

void append_text(std::string& page, std::string_view text) {
  for (const char c : text) {
    if (c == '<')
      page.append("&lt;");
    else if (c == '&')
      page.append("&amp;");
    else
      page.push_back(c);
  }
}

}  // namespace

std::string make_page(std::string_view title, std::string_view style, std::string_view script,
                      std::string_view data) {
  std::string page;
  page.reserve(data.size() + script.size() + embedded::base_js().size() + 16384);
  page.append("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>");
  append_text(page, title);
  page.append("</title>\n<style>\n").append(embedded::base_css()).append(style);
  page.append("</style>\n</head>\n<body>\n<script>\nconst DATA = ");
  append_data(page, data);
  page.append(";\n").append(embedded::base_js()).append(script);
  page.append("</script>\n</body>\n</html>\n");
  return page;
}

}  // namespace tsr::profile

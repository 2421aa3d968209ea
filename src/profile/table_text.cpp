// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// A summary as a table of text.
#include <algorithm>
#include <cmath>
#include <functional>

#include "base/decimal.h"
#include "base/utf8.h"
#include "profile/summary.h"

namespace tsr::profile {
namespace {

constexpr size_t kMostName = 42;
constexpr size_t kMostShapes = 60;

std::string in_units(double value, const char* const* units, int count, double step) {
  int at = 0;
  while (std::abs(value) >= step && at + 1 < count) {
    value /= step;
    ++at;
  }
  return rounded(value, at == 0 ? 0 : 2) + ' ' + units[at];
}
std::string time_text(double nanoseconds) {
  constexpr const char* kUnits[] = {"ns", "us", "ms", "s"};
  return in_units(nanoseconds, kUnits, 4, 1000);
}
std::string bytes_text(double bytes) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  return bytes == 0 ? "-" : in_units(bytes, kUnits, 5, 1024);
}
std::string number_text(double value, int places = 2) {
  return value == 0 ? "-" : rounded(value, places);
}
std::string percent(double part, double whole) {
  if (whole <= 0) return "-";
  const double value = 100 * part / whole;
  return value == 0 ? "-" : rounded(value, 1) + '%';
}
std::string cut(const std::string& text, size_t most) {
  if (count_characters(text) <= most) return text;
  return std::string(first_characters(text, most - 3)) + "...";
}
double rate(double amount, int64_t nanoseconds) {
  return nanoseconds <= 0 ? 0 : amount / static_cast<double>(nanoseconds);
}

struct Column {
  const char* title;
  std::function<std::string(const Row&)> text;
  bool left = false;
};

// Columns in which every row would be empty are left out.
std::vector<Column> columns_for(const Summary& summary) {
  const auto host = static_cast<double>(summary.host_time);
  const auto any = [&](const std::function<bool(const Row&)>& has) {
    return std::any_of(summary.rows.begin(), summary.rows.end(), has);
  };
  const auto real = [](int64_t value) { return static_cast<double>(value); };
  std::vector<Column> columns = {
      {"Name", [](const Row& row) { return cut(row.name, kMostName); }, true}};
  if (any([](const Row& row) { return !row.shapes.empty(); }))
    columns.push_back(
        {"Shapes", [](const Row& row) { return cut(row.shapes, kMostShapes); }, true});
  columns.insert(columns.end(),
                 {{"Self %", [=](const Row& row) { return percent(real(row.self_time), host); }},
                  {"Self", [=](const Row& row) { return time_text(real(row.self_time)); }},
                  {"Total %", [=](const Row& row) { return percent(real(row.total_time), host); }},
                  {"Total", [=](const Row& row) { return time_text(real(row.total_time)); }},
                  {"Average",
                   [=](const Row& row) {
                     return time_text(real(row.total_time) / real(std::max<int64_t>(row.count, 1)));
                   }},
                  {"Calls", [](const Row& row) { return std::to_string(row.count); }}});
  if (any([](const Row& row) { return row.device_time != 0; }))
    columns.push_back({"Device", [=](const Row& row) { return time_text(real(row.device_time)); }});
  if (any([](const Row& row) { return row.allocated != 0; }))
    columns.push_back({"Memory", [=](const Row& row) { return bytes_text(real(row.allocated)); }});
  if (any([](const Row& row) { return row.cost.bytes != 0; })) {
    columns.insert(
        columns.end(),
        {{"GFLOP", [](const Row& row) { return number_text(row.cost.flops / 1e9, 3); }},
         {"GFLOP/s",
          [](const Row& row) { return number_text(rate(row.cost.flops, row.kernel_time)); }},
         {"Bytes", [](const Row& row) { return bytes_text(row.cost.bytes); }},
         {"GB/s",
          [](const Row& row) { return number_text(rate(row.cost.bytes, row.kernel_time)); }}});
  }
  if (any([](const Row& row) { return row.floor_time != 0; }))
    columns.push_back({"Of roof", [=](const Row& row) {
                         return percent(row.floor_time, real(row.kernel_time));
                       }});
  return columns;
}

void append_line(std::string& out, const std::vector<std::string>& cells,
                 const std::vector<Column>& columns, const std::vector<size_t>& widths) {
  for (size_t i = 0; i < cells.size(); ++i) {
    const std::string space(widths[i] - count_characters(cells[i]), ' ');
    if (i != 0) out += "  ";
    out += columns[i].left ? cells[i] + space : space + cells[i];
  }
  out.erase(out.find_last_not_of(' ') + 1);
  out += '\n';
}

}  // namespace

std::string table_text(const Summary& summary, int64_t most) {
  const std::vector<Column> columns = columns_for(summary);
  const auto count =
      most <= 0 ? summary.rows.size() : std::min(summary.rows.size(), static_cast<size_t>(most));
  std::vector<std::vector<std::string>> lines(1);
  for (const Column& column : columns) lines[0].emplace_back(column.title);
  for (size_t i = 0; i < count; ++i) {
    auto& line = lines.emplace_back();
    for (const Column& column : columns) line.push_back(column.text(summary.rows[i]));
  }
  std::vector<size_t> widths(columns.size(), 0);
  size_t whole = 2 * (columns.size() - 1);
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const auto& line : lines) widths[i] = std::max(widths[i], count_characters(line[i]));
    whole += widths[i];
  }
  std::string out;
  append_line(out, lines[0], columns, widths);
  out += std::string(whole, '-') + '\n';
  for (size_t i = 1; i < lines.size(); ++i) append_line(out, lines[i], columns, widths);
  if (count < summary.rows.size())
    out += "... and " + std::to_string(summary.rows.size() - count) + " more rows\n";
  out += "Host time: " + time_text(static_cast<double>(summary.host_time)) + '\n';
  if (summary.device_time != 0)
    out += "Device time: " + time_text(static_cast<double>(summary.device_time)) + '\n';
  return out;
}

}  // namespace tsr::profile

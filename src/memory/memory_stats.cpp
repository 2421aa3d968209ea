// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_stats.h"

namespace tsr {
namespace {

struct PoolStatName {
  const char* name;
  PoolStat MemoryStats::*member;
};
constexpr PoolStatName kPoolStats[] = {
    {"allocated", &MemoryStats::allocated},
    {"allocated_bytes", &MemoryStats::allocated_bytes},
    {"segment", &MemoryStats::segment},
    {"reserved_bytes", &MemoryStats::reserved_bytes},
    {"active", &MemoryStats::active},
    {"active_bytes", &MemoryStats::active_bytes},
    {"inactive_split", &MemoryStats::inactive_split},
    {"inactive_split_bytes", &MemoryStats::inactive_split_bytes},
    {"requested_bytes", &MemoryStats::requested_bytes},
};

struct StatName {
  const char* name;
  Stat MemoryStats::*member;
};
constexpr StatName kStats[] = {
    {"oversize_allocations", &MemoryStats::oversize_allocations},
    {"oversize_segments", &MemoryStats::oversize_segments},
};

struct CountName {
  const char* name;
  int64_t MemoryStats::*member;
};
constexpr CountName kCounts[] = {
    {"num_alloc_retries", &MemoryStats::num_alloc_retries},
    {"num_ooms", &MemoryStats::num_ooms},
    {"num_sync_all_streams", &MemoryStats::num_sync_all_streams},
    {"num_device_alloc", &MemoryStats::num_device_alloc},
    {"num_device_free", &MemoryStats::num_device_free},
    {"max_split_size", &MemoryStats::max_split_size},
};

using Visit = FunctionRef<void(std::string_view key, int64_t value)>;

void visit_stat(const std::string& prefix, const Stat& stat, const Visit& visit) {
  visit(prefix + ".current", stat.current);
  visit(prefix + ".peak", stat.peak);
  visit(prefix + ".allocated", stat.allocated);
  visit(prefix + ".freed", stat.freed);
}

}  // namespace

void MemoryStats::reset_peak() noexcept {
  for (const PoolStatName& row : kPoolStats) (this->*row.member).reset_peak();
  for (const StatName& row : kStats) (this->*row.member).reset_peak();
}

void MemoryStats::visit(Visit visit) const {
  for (const PoolStatName& row : kPoolStats) {
    const PoolStat& stat = this->*row.member;
    const std::string name = row.name;
    visit_stat(name + ".all", stat.all, visit);
    visit_stat(name + ".large_pool", stat.pool[static_cast<size_t>(PoolKind::kLarge)], visit);
    visit_stat(name + ".small_pool", stat.pool[static_cast<size_t>(PoolKind::kSmall)], visit);
  }
  for (const StatName& row : kStats) visit_stat(row.name, this->*row.member, visit);
  for (const CountName& row : kCounts) visit(row.name, this->*row.member);
}

std::string MemoryStats::to_json() const {
  std::string json = "{";
  visit([&](std::string_view key, int64_t value) {
    if (json.size() > 1) json += ", ";
    json += '"';
    json += key;
    json += "\": ";
    json += std::to_string(value);
  });
  return json + "}";
}

}  // namespace tsr

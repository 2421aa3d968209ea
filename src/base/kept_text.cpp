// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "base/kept_text.h"

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace tsr {
namespace {

constexpr uint32_t kPlaces = 32;
constexpr uint32_t kMost = uint32_t{1} << 30;

char g_reserve[kPlaces][KeptText::kReserveBytes];
std::atomic<uint32_t> g_taken{0};  // one bit for each slot
static_assert(kPlaces == 32);

char* take_place() noexcept {
  uint32_t taken = g_taken.load(std::memory_order_relaxed);
  while (taken != UINT32_MAX) {
    const uint32_t free = ~taken & (taken + 1);
    if (g_taken.compare_exchange_weak(taken, taken | free, std::memory_order_acquire)) {
      return g_reserve[__builtin_ctz(free)];
    }
  }
  return nullptr;
}

bool in_reserve(const char* text) noexcept {
  const auto* first = &g_reserve[0][0];
  return text >= first && text < first + sizeof(g_reserve);
}

// Where to cut `text` so that at most `most` bytes and whole UTF-8 characters remain.
size_t cut_at(const char* text, size_t most) noexcept {
  size_t end = most;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return end;
}

void free_text(char* text, uint32_t capacity) noexcept {
  if (in_reserve(text)) {
    const auto place = static_cast<uint32_t>((text - g_reserve[0]) / KeptText::kReserveBytes);
    g_taken.fetch_and(~(uint32_t{1} << place), std::memory_order_release);
  } else if (capacity != 0) {
    std::free(text);
  }
}

}  // namespace

bool KeptText::assign(std::initializer_list<std::string_view> pieces) noexcept {
  size_t size = 0;
  for (std::string_view piece : pieces) size += piece.size();
  if (size > kMost) size = kMost;
  const KeptText before = *this;  // the first piece may be part of the old text
  if (!make_room(size)) {
    assign_literal("out of memory while describing an error");
    return false;
  }
  size_t end = 0;
  const size_t room = capacity_ - 1;
  for (std::string_view piece : pieces) {
    const size_t count = piece.size() < room - end ? piece.size() : room - end;
    if (count == 0) continue;  // an empty piece may be null, and memmove takes no null
    std::memmove(text_ + end, piece.data(), count);
    end += count;
  }
  if (end < size && room >= 3) {
    end = cut_at(text_, end - 3);
    std::memcpy(text_ + end, "...", 3);
    end += 3;
  }
  text_[end] = '\0';
  size_ = static_cast<uint32_t>(end);
  if (before.text_ != text_) free_text(before.text_, before.capacity_);
  return true;
}

// Keeps the buffer if it is large enough, or if no better one can be had. Frees nothing.
bool KeptText::make_room(size_t size) noexcept {
  if (size < capacity_) return true;
  char* fresh = static_cast<char*>(std::malloc(size + 1));
  if (fresh == nullptr) {
    if (capacity_ >= kReserveBytes) return true;
    fresh = take_place();
    if (fresh == nullptr) return capacity_ != 0;
    size = kReserveBytes - 1;
  }
  text_ = fresh;
  capacity_ = static_cast<uint32_t>(size + 1);
  return true;
}

void KeptText::assign_literal(const char* literal) noexcept {
  clear();
  text_ = const_cast<char*>(literal);  // never written to while capacity_ is 0
  size_ = static_cast<uint32_t>(std::strlen(literal));
}

void KeptText::clear() noexcept {
  free_text(text_, capacity_);
  text_ = nullptr;
  size_ = 0;
  capacity_ = 0;
}

}  // namespace tsr

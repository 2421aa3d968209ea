// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// KeptText: the text of an error in thread-local storage. It can be set even when memory is out.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tsr {

// Text on the heap. If the heap has no memory, the text goes to one of a few reserve slots that all
// threads share, cut to the size of a slot, with "..." at its end and never inside a UTF-8
// character. If all slots are taken, a literal says that memory is out. It has no constructor and
// no destructor: see Note [Thread-local state].
class KeptText {
 public:
  static constexpr uint32_t kReserveBytes = 1024;  // of one slot

  // Returns false if there was no memory, not even a slot of the reserve.
  bool assign(std::initializer_list<std::string_view> pieces) noexcept;
  // A literal needs no memory.
  void assign_literal(const char* literal) noexcept;
  void clear() noexcept;

  // Ends with NUL; never null.
  [[nodiscard]] std::string_view view() const noexcept {
    return text_ == nullptr ? std::string_view("", 0) : std::string_view(text_, size_);
  }
  [[nodiscard]] bool owns_memory() const noexcept { return capacity_ != 0; }

 private:
  bool make_room(size_t size) noexcept;

  char* text_ = nullptr;
  uint32_t size_ = 0;
  uint32_t capacity_ = 0;  // 0 for a literal, kReserveBytes for a slot of the reserve
};

}  // namespace tsr

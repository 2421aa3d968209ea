// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// KeptText: the text of an error in thread-local storage, which is there also without memory.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

namespace tsr {

// Text on the heap. Without memory there it is cut, with "..." at its end and never inside a UTF-8
// character, to a place of the reserve, of which the process has a few for all its threads; when
// these are taken too, a literal says that memory is out. Without constructor and destructor:
// see Note [Thread-local state].
class KeptText {
 public:
  static constexpr uint32_t kReserveBytes = 1024;  // of one place

  // Returns false when there was not even a place in the reserve.
  bool assign(std::initializer_list<std::string_view> pieces) noexcept;
  // A literal, which costs nothing.
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
  uint32_t capacity_ = 0;  // 0 for a literal, kReserveBytes also for a place of the reserve
};

}  // namespace tsr

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// HistoryContext: who asked for a block. Texts are stored once each, as numbers of one table.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tsr {

inline constexpr uint32_t kNoText = 0;

struct HistoryContext {
  uint32_t operation =
      kNoText;  // the names of the open spans, outermost first: "backward > MulBackward0"
  uint32_t stack = kNoText;  // a frame of the host in each line, innermost first
  uint32_t shape = kNoText;  // "float32[2, 3]"
  int32_t thread = 0;
};

// The number of a text. The table is bounded, and emptied when a recording begins while no other is
// running. Beyond the bound every new text becomes "...", as do texts that are gone.
[[nodiscard]] uint32_t history_text(std::string_view text) noexcept;
[[nodiscard]] std::string text_of_history(uint32_t number);

// The last name of an operation's text.
[[nodiscard]] std::string operation_name(uint32_t number);

// The context of the calling thread. May run the host's code, if `stacks`.
[[nodiscard]] HistoryContext history_context(bool operations, bool stacks) noexcept;

// While any history records, there are spans of all kinds. `stack_frames`: how many lines of a
// stack are kept, 0 without stacks; the number given last serves all.
void begin_history(uint32_t stack_frames) noexcept;
void end_history(bool stacks) noexcept;

}  // namespace tsr

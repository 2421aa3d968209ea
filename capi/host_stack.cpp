// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// The call stack of the host.
#include "base/host_stack.h"

#include <algorithm>
#include <array>

#include "capi/callback.h"
#include "capi/generated/infos.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

constexpr size_t kStackBytes = 16384;

// What did not fit ends with the last whole line.
std::string text_of(const std::array<char, kStackBytes>& text, int64_t length) {
  const auto size = static_cast<size_t>(std::clamp<int64_t>(length, 0, kStackBytes));
  std::string stack(text.data(), size);
  const size_t last = size < kStackBytes ? std::string::npos : stack.rfind('\n');
  if (last != std::string::npos) stack.resize(last);
  return stack;
}

}  // namespace

extern "C" {

tsr_status tsr_host_stack_set(tsr_host_stack_fn callback, void* user, tsr_drop_fn drop) {
  UserData data(user, drop);
  return guard(Call(kInfo_host_stack_set, callback), [&] {
    if (callback == nullptr) {
      set_host_stack(nullptr);
      return;
    }
    auto ask = [callback, owner = share(std::move(data))] {
      std::array<char, kStackBytes> text;
      int64_t length = 0;
      call_host("host_stack", callback, owner->get(), text.data(),
                static_cast<int64_t>(text.size()), &length);
      return text_of(text, length);
    };
    set_host_stack(std::make_shared<const HostStackSource>(std::move(ask)));
  });
}

}  // extern "C"

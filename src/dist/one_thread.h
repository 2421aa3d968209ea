// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// OneThread: keeps an object to one thread at a time. A second thread gets an error and does not
// wait: the first may be inside a collective, and may be gone after a fork.
#pragma once

#include <atomic>
#include <thread>

#include "base/error.h"

namespace tsr::dist {

class OneThread {
 public:
  // The thread is inside as long as one of its entries lives. Throws kAutograd while another thread
  // is inside; `what` names the object.
  class Entry {
   public:
    Entry(OneThread& object, const char* what) {
      const std::thread::id self = std::this_thread::get_id();
      if (object.inside_.load(std::memory_order_relaxed) == self) return;
      std::thread::id nobody;
      TSR_CHECK(object.inside_.compare_exchange_strong(nobody, self, std::memory_order_acquire,
                                                       std::memory_order_relaxed),
                Code::kAutograd, nullptr, "expected one thread at a time in ", what,
                ", got a call while another thread is inside");
      object_ = &object;
    }
    ~Entry() {
      if (object_ != nullptr) object_->inside_.store(std::thread::id(), std::memory_order_release);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

   private:
    OneThread* object_ = nullptr;  // null: an entry further out leaves
  };

 private:
  std::atomic<std::thread::id> inside_{};
};

}  // namespace tsr::dist

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Error records: what a failure leaves on its thread, and the functions that read, take and set it.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <new>

#include "base/error.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/log.h"
#include "capi/structs.h"
#include "capi/tables.h"

namespace tsr::capi {

const char kHostFile[] = "host";

namespace {

// A record whose payload outlives its thread goes to tsr_poll: host code cannot run in a thread
// that is ending.
struct ThreadRecord {
  Record record;
  uint64_t count = 0;
  bool set = false;

  ~ThreadRecord() {
    if (record.payload) set_drops_deferred(true);
  }
};

thread_local ThreadRecord t_record;

bool has_arg(const CallInfo& info, std::string_view arg) noexcept {
  return std::any_of(std::begin(info.args), std::end(info.args),
                     [&](const char* name) { return name != nullptr && arg == name; });
}

int32_t index_of(const CallInfo& info, const char* arg) noexcept {
  if (arg == nullptr) return -1;
  // Shape algebra speaks of one axis where the function takes several.
  if (std::string_view(arg) == "axis" && !has_arg(info, "axis")) arg = "axes";
  for (int32_t i = 0; i < CallInfo::kMaxArgs && info.args[i] != nullptr; ++i) {
    if (std::string_view(info.args[i]) == arg) return i;
  }
  return -1;
}

Record& begin_record(Code code, const char* op) noexcept {
  ThreadRecord& slot = t_record;
  slot.record = Record{};
  slot.record.code = static_cast<int32_t>(code);
  slot.record.op = op;
  slot.set = true;
  ++slot.count;
  return slot.record;
}

void record_error(const CallInfo& info, const Error& error) noexcept {
  Record& record = begin_record(error.code(), info.op);
  record.line = error.line();
  record.file = error.file();
  record.native_code = error.native_code();
  record.payload = error.payload();
  record.fallback = "out of memory while describing an error";
  try {
    if (error.file() == kHostFile) {
      record.message = error.message();
    } else {
      record.arg_index = index_of(info, error.arg());
      record.message = record.arg_index < 0 ? concat(info.op, ": ", error.message())
                                            : concat(info.op, ": ", info.args[record.arg_index],
                                                     ": ", error.message());
    }
    record.fallback = nullptr;
  } catch (...) {  // the fallback stands
  }
}

void record_text(const CallInfo& info, Code code, const char* literal,
                 const char* detail) noexcept {
  Record& record = begin_record(code, info.op);
  record.fallback = literal;
  try {
    record.message = concat(info.op, ": ", literal, detail);
    record.fallback = nullptr;
  } catch (...) {  // the fallback stands
  }
}

void fill_view(const Record& record, tsr_error_view* view) {
  tsr_error_view value{};
  value.code = record.code;
  value.arg_index = record.arg_index;
  value.line = record.line;
  value.op = record.op;
  value.op_len = static_cast<int64_t>(std::string_view(record.op).size());
  const std::string_view message = record.fallback != nullptr ? std::string_view(record.fallback)
                                                              : std::string_view(record.message);
  value.message = message.data();
  value.message_len = static_cast<int64_t>(message.size());
  value.file = record.file;
  value.file_len = static_cast<int64_t>(std::string_view(record.file).size());
  value.native_code = record.native_code;
  value.payload = record.payload.get();
  fill_struct(view, value, "view");
}

bool is_known_code(int32_t code) noexcept {
  return code > 0 && code <= static_cast<int32_t>(Code::kAsync);
}

}  // namespace

tsr_status record_failure(const CallInfo& info) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    record_error(info, error);
  } catch (const std::bad_alloc&) {
    record_text(info, Code::kOutOfMemory, "out of memory", "");
  } catch (const std::exception& error) {
    record_text(info, Code::kInternal, "internal error, please report: ", error.what());
  } catch (...) {
    record_text(info, Code::kInternal, "internal error, please report: ", "a foreign exception");
  }
  return t_record.record.code;
}

void trace_call(TracePoint point, const CallInfo& info) noexcept {
  trace(point, info.op);
}

uint64_t failures_recorded() noexcept {
  return t_record.count;
}

void throw_host_failure(tsr_status status, uint64_t before, const char* callback) {
  ThreadRecord& slot = t_record;
  if (slot.count != before && slot.record.code == status) {
    Error error(static_cast<Code>(status), nullptr, slot.record.message, kHostFile);
    error.set_payload(std::move(slot.record.payload));
    error.set_native_code(slot.record.native_code);
    throw error;
  }
  const Code code = is_known_code(status) ? static_cast<Code>(status) : Code::kCallback;
  throw Error(code, nullptr, concat("the ", callback, " callback returned ", status), kHostFile);
}

namespace {

struct LogTarget {
  tsr_log_fn callback;
  UserData data;
};
std::mutex g_log_mutex;
std::atomic<bool> g_log_set{false};
// Never destroyed: messages may come while the process exits.
std::shared_ptr<LogTarget>& log_target() {
  static auto* const kTarget = new std::shared_ptr<LogTarget>;
  return *kTarget;
}

}  // namespace

void log_message(tsr_log_level level, const char* component, std::string_view message) noexcept {
  if (!g_log_set.load(std::memory_order_relaxed)) return;
  std::shared_ptr<LogTarget> target;
  {
    const std::lock_guard lock(g_log_mutex);
    target = log_target();
  }
  if (!target) return;
  target->callback(target->data.get(), level, component, message.data(),
                   static_cast<int64_t>(message.size()));
}

}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_error_last(tsr_error_view* view) {
  return guard(kInfo_error_last, [&] {
    check_struct_size(view, "view");
    TSR_CHECK(t_record.set, Code::kValue, nullptr, "no function has failed on this thread");
    fill_view(t_record.record, view);
  });
}

tsr_status tsr_error_take(tsr_error* error) {
  clear(error);
  return guard(kInfo_error_take, [&] {
    out_arg(error, "error");
    if (!t_record.set) return;
    give_object(new ErrorObject(std::exchange(t_record.record, Record{})), error);
    t_record.set = false;
  });
}

tsr_status tsr_error_info(tsr_error error, tsr_error_view* view) {
  return guard(kInfo_error_info, [&] {
    fill_view(object_arg<ErrorObject>(error, ObjectTag::kError, "error", "error")->record, view);
  });
}

void tsr_error_release(tsr_error error) {
  release_handle<ErrorObject>(error, ObjectTag::kError);
}

tsr_status tsr_error_set(tsr_status code, const char* message, int64_t message_len, void* payload,
                         tsr_drop_fn drop) {
  UserData data(payload, drop);
  return guard(kInfo_error_set, [&] {
    TSR_CHECK(is_known_code(code), Code::kValue, "code", "expected a status code, got ", code);
    std::string text(text_arg(message, message_len, "message"));
    std::shared_ptr<void> owner;
    if (payload != nullptr || drop != nullptr) owner = payload_owner(std::move(data));
    Record& record = begin_record(static_cast<Code>(code), "host");
    record.file = kHostFile;
    record.message = std::move(text);
    record.payload = std::move(owner);
  });
}

const char* tsr_status_name(tsr_status code) {
  for (size_t i = 0; i < kStatusCount; ++i) {
    if (kStatusNames[i].code == code) return kStatusNames[i].name;
  }
  return "UNKNOWN";
}

tsr_status tsr_log_set(tsr_log_fn callback, void* user, tsr_drop_fn drop) {
  UserData data(user, drop);
  return guard(kInfo_log_set, [&] {
    std::shared_ptr<LogTarget> target;
    if (callback != nullptr)
      target = std::make_shared<LogTarget>(LogTarget{callback, std::move(data)});
    g_log_set.store(target != nullptr, std::memory_order_relaxed);
    const std::lock_guard lock(g_log_mutex);
    log_target().swap(target);
  });
}

tsr_status tsr_poll(int64_t* count) {
  return guard(kInfo_poll, [&] { *out_arg(count, "count") = run_queued_drops(); });
}

tsr_status tsr_defer_drops(int32_t enabled) {
  return guard(kInfo_defer_drops, [&] { set_drops_deferred(bool_arg(enabled, "enabled")); });
}

}  // extern "C"

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Error records: the last failure of each thread, and the functions that read, take and set it.
#include <algorithm>
#include <new>
#include <utility>

#include "base/error.h"
#include "base/json.h"
#include "base/kept_text.h"
#include "base/thread_exit.h"
#include "capi/callback.h"
#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/program/recorder.h"
#include "capi/structs.h"
#include "capi/tables.h"

namespace tsr::capi {

const char kHostFile[] = "host";

namespace {

// The last failure of a thread. See Note [Thread-local state]: the only memory that it owns is the
// message and the host's payload.
struct ThreadRecord {
  ErrorHead head;
  KeptText message;
  ThreadValue<std::shared_ptr<void>> payload;
  uint64_t count = 0;
  bool set = false;
};
constinit thread_local ThreadRecord t_record;

// Runs when the thread ends. Queues a payload for tsr_poll: host code cannot run in such a thread.
void forget_record() noexcept {
  set_drops_deferred(true);
  t_record.payload.end();
  t_record.message.clear();
  t_record.head = {};
  t_record.set = false;
}

int32_t find_arg(const CallInfo& info, std::string_view arg) noexcept {
  for (int32_t i = 0; i < info.n; ++i) {
    if (info.args[i].name == arg) return i;
  }
  return -1;
}

int32_t index_of(const CallInfo& info, const char* arg) noexcept {
  if (arg == nullptr) return -1;
  const int32_t found = find_arg(info, arg);
  if (found >= 0) return found;
  // Shape code names one `axis`, also for a function that takes `axes`; code that reads a file its
  // `path`, also for a function that takes the `bytes` of one.
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {{"axis", "axes"},
                                                                       {"path", "bytes"}};
  for (const auto& [name, other] : kOthers) {
    if (name == arg) return find_arg(info, other);
  }
  return -1;
}

ThreadRecord& begin_record(Code code, const char* op) noexcept {
  ThreadRecord& record = t_record;
  record.payload.end();  // first, because its drop may call the library and write a record itself
  record.head = {};
  record.head.code = static_cast<int32_t>(code);
  record.head.op = op;
  record.set = true;
  ++record.count;
  return record;
}

// Called after all fields are written.
void finish_record() noexcept {
  static_cast<void>(at_thread_exit(ThreadPart::kError, forget_record));
}

void record_error(const CallInfo& info, const Error& error) noexcept {
  std::shared_ptr<void> payload = error.payload();
  ThreadRecord& record = begin_record(error.code(), info.name);
  record.head.line = error.line();
  record.head.file = error.file();
  record.head.native_code = error.native_code();
  if (payload) record.payload.get() = std::move(payload);
  if (error.file() == kHostFile) {
    record.message.assign({error.message()});
  } else {
    const int32_t arg = index_of(info, error.arg());
    record.head.arg_index = arg;
    if (arg < 0) {
      record.message.assign({info.name, ": ", error.message()});
    } else {
      record.message.assign({info.name, ": ", info.args[arg].name, ": ", error.message()});
    }
  }
  finish_record();
}

void record_text(const CallInfo& info, Code code, const char* literal,
                 const char* detail) noexcept {
  begin_record(code, info.name).message.assign({info.name, ": ", literal, detail});
  finish_record();
}

void fill_view(const ErrorHead& head, std::string_view message, void* payload,
               tsr_error_view* view) {
  tsr_error_view value{};
  value.code = head.code;
  value.arg_index = head.arg_index;
  value.line = head.line;
  value.op = head.op;
  value.op_len = static_cast<int64_t>(std::string_view(head.op).size());
  value.message = message.data();
  value.message_len = static_cast<int64_t>(message.size());
  value.file = head.file;
  value.file_len = static_cast<int64_t>(std::string_view(head.file).size());
  value.native_code = head.native_code;
  value.payload = payload;
  fill_struct(view, value, "view");
}

bool is_known_code(int32_t code) noexcept {
  return code > 0 && std::any_of(kStatusNames, kStatusNames + kStatusCount,
                                 [code](const StatusName& row) { return row.code == code; });
}

}  // namespace

tsr_status record_failure(const CallInfo& info) noexcept {
  try {
    throw;
  } catch (const Error& error) {
    record_error(info, error);
  } catch (const JsonError& error) {
    record_text(info, Code::kValue, "JSON: ", error.what());
  } catch (const std::bad_alloc&) {
    record_text(info, Code::kOutOfMemory, "out of memory", "");
  } catch (const std::exception& error) {
    record_text(info, Code::kInternal, "internal error, please report: ", error.what());
  } catch (...) {
    record_text(info, Code::kInternal, "internal error, please report: ", "a foreign exception");
  }
  return t_record.head.code;
}

tsr_status begin_call(TraceSpan& span, const CallInfo& info, int32_t function,
                      const tsr_value* values, int32_t count) noexcept {
  if (program::t_recorder != nullptr) {
    const tsr_status refused =
        program::before_call(info, function, {values, static_cast<size_t>(count)});
    if (refused != TSR_OK) return refused;
  }
  const int32_t row = info.id;
  const bool about_traces = row >= kInfo_trace_set.id && row <= kInfo_trace_read.id;
  TraceEvent event{};
  // A call that starts or stops a trace would lack its first or last event: it has no kind.
  event.kind = about_traces ? TraceKind{} : TraceKind::kCall;
  event.id = function == 0 ? info.id : function;
  event.name = info.name;
  event.args = values;
  event.n_args = count;
  begin_span(span, event);
  return TSR_OK;
}

void end_call(TraceSpan& span, tsr_status status, const tsr_value* results,
              int32_t count) noexcept {
  end_span(span, status);
  if (program::t_recorder != nullptr)
    program::after_call(status, {results, static_cast<size_t>(count)});
}

uint64_t failures_recorded() noexcept {
  return t_record.count;
}

Error take_failure(tsr_status status, const char* file, int32_t line) {
  ThreadRecord& record = t_record;
  Error error(static_cast<Code>(status), nullptr, std::string(record.message.view()), file, line);
  error.set_payload(std::exchange(record.payload.get(), nullptr));
  error.set_native_code(record.head.native_code);
  return error;
}

void throw_host_failure(tsr_status status, uint64_t before, const char* callback) {
  if (t_record.count != before && t_record.head.code == status)
    throw take_failure(status, kHostFile, 0);
  const std::string said = concat("the ", callback, " callback returned ");
  if (!is_known_code(status))
    throw Error(Code::kCallback, nullptr, concat(said, status, ", which is no status"), kHostFile);
  throw Error(static_cast<Code>(status), nullptr,
              concat(said, tsr_status_name(status), " and set no error; tsr_error_raise does both"),
              kHostFile);
}

}  // namespace tsr::capi

using namespace tsr;
using namespace tsr::capi;

extern "C" {

tsr_status tsr_error_last(tsr_error_view* view) {
  return guard(Call(kInfo_error_last, view), [&] {
    check_struct_size(view, "view");
    TSR_CHECK(t_record.set, Code::kValue, nullptr, "no function has failed on this thread");
    fill_view(t_record.head, t_record.message.view(), t_record.payload.get().get(), view);
  });
}

tsr_status tsr_error_take(tsr_error* error) {
  clear(error);
  return guard(kInfo_error_take, [&] {
    out_arg(error, "error");
    if (!t_record.set) return;
    auto* taken = new ErrorObject(t_record.head, t_record.message.view());
    taken->payload.swap(t_record.payload.get());
    t_record.message.clear();
    t_record.set = false;
    give_object(taken, error);
  });
}

tsr_status tsr_error_info(tsr_error error, tsr_error_view* view) {
  return guard(Call(kInfo_error_info, error, view), [&] {
    const auto* taken = object_arg<ErrorObject>(error, ObjectTag::kError, "error", "error");
    fill_view(taken->head, taken->message, taken->payload.get(), view);
  });
}

void tsr_error_retain(tsr_error error) {
  retain_handle(error, ObjectTag::kError);
}

void tsr_error_release(tsr_error error) {
  release_handle<ErrorObject>(error, ObjectTag::kError);
}

tsr_status tsr_error_set(tsr_status code, const char* message, int64_t message_len, void* payload,
                         tsr_drop_fn drop) {
  UserData data(payload, drop);
  return guard(Call(kInfo_error_set, code, TextOf{message, message_len}, payload, drop), [&] {
    TSR_CHECK(is_known_code(code), Code::kValue, "code", "expected a status code, got ", code);
    const std::string_view text = text_arg(message, message_len, "message");
    std::shared_ptr<void> owner;
    if (payload != nullptr || drop != nullptr) owner = payload_owner(std::move(data));
    ThreadRecord& record = begin_record(static_cast<Code>(code), "host");
    record.head.file = kHostFile;
    record.message.assign({text});
    if (owner) record.payload.get() = std::move(owner);
    finish_record();
  });
}

const char* tsr_status_name(tsr_status code) {
  for (size_t i = 0; i < kStatusCount; ++i) {
    if (kStatusNames[i].code == code) return kStatusNames[i].name;
  }
  return "UNKNOWN";
}

tsr_status tsr_poll(int64_t* count) {
  return guard(kInfo_poll, [&] { *out_arg(count, "count") = run_queued_drops(); });
}

tsr_status tsr_defer_drops(int32_t enabled) {
  return guard(Call(kInfo_defer_drops, enabled),
               [&] { set_drops_deferred(bool_arg(enabled, "enabled")); });
}

}  // extern "C"

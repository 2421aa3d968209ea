// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Version, symbols and schema; starts the library explicitly when it is loaded.
#include <algorithm>
#include <string_view>

#include "capi/generated/infos.h"
#include "capi/handle.h"
#include "capi/start_up.h"
#include "capi/tables.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

// The library is ready once it is loaded, so no function has to test for it.
[[gnu::constructor]] void on_load() {
  start_up();
}

}  // namespace

extern "C" {

uint32_t tsr_abi_version(void) {
  return kAbiVersion;
}

const char* tsr_version_string(void) {
  return "0.1.0";
}

int32_t tsr_has(const char* name, int64_t name_len) {
  int32_t has = 0;
  const tsr_status status = guard(Call(kInfo_has, TextOf{name, name_len}), [&] {
    const std::string_view wanted = text_arg(name, name_len, "name");
    has = find_symbol(wanted) != nullptr || has_feature(wanted) ? 1 : 0;
  });
  return status == TSR_OK ? has : 0;
}

void* tsr_get_proc(const char* name, int64_t name_len) {
  const Symbol* found = nullptr;
  const tsr_status status = guard(Call(kInfo_get_proc, TextOf{name, name_len}),
                                  [&] { found = find_symbol(text_arg(name, name_len, "name")); });
  return status == TSR_OK && found != nullptr ? reinterpret_cast<void*>(found->function) : nullptr;
}

tsr_status tsr_abi_probe(const char* struct_name, int64_t struct_name_len, int64_t size) {
  return guard(Call(kInfo_abi_probe, TextOf{struct_name, struct_name_len}, size), [&] {
    const std::string_view name = text_arg(struct_name, struct_name_len, "struct_name");
    const StructSize* end = kStructSizes + kStructCount;
    const StructSize* row =
        std::find_if(kStructSizes, end, [&](const StructSize& s) { return s.name == name; });
    TSR_CHECK(row != end, Code::kValue, "struct_name", "expected the name of a struct, got '", name,
              "'");
    TSR_CHECK(size == static_cast<int64_t>(row->size), Code::kAbi, "size", "expected ", row->size,
              " bytes for ", name, ", got ", size);
  });
}

tsr_status tsr_schema_json(const char** json, int64_t* json_len) {
  return guard(kInfo_schema_json, [&] {
    *out_arg(json, "json") = schema_json().data();
    *out_arg(json_len, "json") = static_cast<int64_t>(schema_json().size());
  });
}

}  // extern "C"

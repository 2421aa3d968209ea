// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// capi/generated/schema.json inside the library: the assembler takes the file in as it stands.
#include "capi/tables.h"

// The assembler looks for the file in the folder that capi/CMakeLists.txt names with -Wa,-I.
asm(R"(
  .pushsection .rodata
  .global tsr_embedded_schema
  .hidden tsr_embedded_schema
  .type tsr_embedded_schema, %object
tsr_embedded_schema:
  .incbin "schema.json"
.Ltsr_embedded_schema_end:
  .byte 0
  .size tsr_embedded_schema, . - tsr_embedded_schema
  .balign 8
  .global tsr_embedded_schema_size
  .hidden tsr_embedded_schema_size
  .type tsr_embedded_schema_size, %object
tsr_embedded_schema_size:
  .8byte .Ltsr_embedded_schema_end - tsr_embedded_schema
  .size tsr_embedded_schema_size, 8
  .popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] extern const char tsr_embedded_schema[];
[[gnu::visibility("hidden")]] extern const uint64_t tsr_embedded_schema_size;
}

namespace tsr::capi {

std::string_view schema_json() noexcept {
  return {tsr_embedded_schema, tsr_embedded_schema_size};
}

}  // namespace tsr::capi

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Embeds capi/generated/schema.json into the library with the assembler.
#include "capi/tables.h"

// capi/CMakeLists.txt passes the folder of the file to the assembler with -Wa,-I.
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

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Embeds the files of src/profile/page with the assembler, which CMakeLists.txt tells their folder
// with -Wa,-I. For one more file: five lines of assembly, two declarations, one function.
#include "profile/embedded.h"

// NAME and NAME_end bracket the file's text.
asm(R"(
  .macro tsr_embed name, file
  .global tsr_page_\name
  .hidden tsr_page_\name
  .global tsr_page_\name\()_end
  .hidden tsr_page_\name\()_end
tsr_page_\name:
  .incbin "\file"
tsr_page_\name\()_end:
  .byte 0
  .endm
  .pushsection .rodata
  tsr_embed base_css, base.css
  tsr_embed base_js, base.js
  tsr_embed memory_css, memory.css
  tsr_embed memory_js, memory.js
  tsr_embed profile_css, profile.css
  tsr_embed profile_js, profile.js
  .popsection
)");

extern "C" {
[[gnu::visibility("hidden")]] extern const char tsr_page_base_css[], tsr_page_base_css_end[];
[[gnu::visibility("hidden")]] extern const char tsr_page_base_js[], tsr_page_base_js_end[];
[[gnu::visibility("hidden")]] extern const char tsr_page_memory_css[], tsr_page_memory_css_end[];
[[gnu::visibility("hidden")]] extern const char tsr_page_memory_js[], tsr_page_memory_js_end[];
[[gnu::visibility("hidden")]] extern const char tsr_page_profile_css[], tsr_page_profile_css_end[];
[[gnu::visibility("hidden")]] extern const char tsr_page_profile_js[], tsr_page_profile_js_end[];
}

namespace tsr::profile::embedded {
namespace {

std::string_view between(const char* begin, const char* end) noexcept {
  return {begin, static_cast<size_t>(end - begin)};
}

}  // namespace

std::string_view base_css() noexcept {
  return between(tsr_page_base_css, tsr_page_base_css_end);
}
std::string_view base_js() noexcept {
  return between(tsr_page_base_js, tsr_page_base_js_end);
}
std::string_view memory_css() noexcept {
  return between(tsr_page_memory_css, tsr_page_memory_css_end);
}
std::string_view memory_js() noexcept {
  return between(tsr_page_memory_js, tsr_page_memory_js_end);
}
std::string_view profile_css() noexcept {
  return between(tsr_page_profile_css, tsr_page_profile_css_end);
}
std::string_view profile_js() noexcept {
  return between(tsr_page_profile_js, tsr_page_profile_js_end);
}

}  // namespace tsr::profile::embedded

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/linalg/blas_kernels.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <iterator>
#include <string_view>
#include <utility>

#include "backend/cpu/level.h"

namespace tsr::cpu {
namespace {

// Note [Kernels of OpenBLAS]
// OpenBLAS knows processors by family and model. For a model that is newer than itself it takes the
// kernels of an old one: Debian's 0.3.21 those of Haswell for Zen 4, and for Emerald Rapids those
// of Prescott, which has SSE3 and a sixth of the speed. The variable OPENBLAS_CORETYPE tells it
// better, but a library must not change the environment that other threads may read. So OpenBLAS
// alone gets another answer: it initialises its kernels once more, while its own pointer to getenv
// (a slot that the loader has filled in) leads here.

constexpr const char* kVariable = "OPENBLAS_CORETYPE";

struct Choice {
  std::string_view level;
  const char* core;           // as the variable names it
  const char* table;          // a symbol of a library that has these kernels
  std::string_view worse[3];  // cores that are chosen for unknown processors
};
constexpr Choice kChoices[] = {
    {"avx512", "SkylakeX", "gotoblas_SKYLAKEX", {"Prescott", "Haswell", "Zen"}},
    {"avx2", "Haswell", "gotoblas_HASWELL", {"Prescott", "Nehalem", "Sandybridge"}},
};

using GetEnv = char* (*)(const char* name);

const char* g_core = nullptr;  // written before the slot leads to answer

char* answer(const char* name) noexcept {
  // The caller only reads it; the type is getenv's.
  return std::string_view(name) == kVariable ? const_cast<char*>(g_core) : std::getenv(name);
}

// The slot with the library's pointer to getenv; null if there is none that can be written.
GetEnv* find_slot(void* handle) noexcept {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return nullptr;
  const ElfW(Sym)* symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela)* calls = nullptr;
  size_t nbytes = 0;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    const auto number = entry->d_un.d_val;
    const auto* address = reinterpret_cast<const void*>(entry->d_un.d_ptr);
    // The loader protects all slots of a library with this flag.
    const bool bound = entry->d_tag == DT_BIND_NOW ||
                       (entry->d_tag == DT_FLAGS && (number & DF_BIND_NOW) != 0) ||
                       (entry->d_tag == DT_FLAGS_1 && (number & DF_1_NOW) != 0);
    if (bound) return nullptr;
    if (entry->d_tag == DT_SYMTAB) symbols = static_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) names = static_cast<const char*>(address);
    if (entry->d_tag == DT_JMPREL) calls = static_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) nbytes = number;
  }
  if (symbols == nullptr || names == nullptr || calls == nullptr) return nullptr;
  const ElfW(Rela)* end = calls + nbytes / sizeof *calls;
  const auto* found = std::find_if(calls, end, [&](const ElfW(Rela) & call) {
    return std::string_view(names + symbols[ELF64_R_SYM(call.r_info)].st_name) == "getenv";
  });
  return found == end ? nullptr : reinterpret_cast<GetEnv*>(map->l_addr + found->r_offset);
}

template <class Function>
bool bind(void* handle, const char* name, Function*& function) noexcept {
  function = reinterpret_cast<Function*>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

void choose_blas_kernels(void* handle) noexcept {
  char* (*core)() = nullptr;
  void (*init)() = nullptr;
  void (*quit)() = nullptr;
  const bool chooses = bind(handle, "gotoblas_corename", core) &&
                       bind(handle, "gotoblas_dynamic_init", init) &&
                       bind(handle, "gotoblas_dynamic_quit", quit);
  if (!chooses || std::getenv(kVariable) != nullptr) return;
  for (const Choice& choice : kChoices) {
    const auto* const end = std::end(choice.worse);
    if (choice.level != best_level()->name ||
        std::find(std::begin(choice.worse), end, std::string_view(core())) == end ||
        dlsym(handle, choice.table) == nullptr)
      continue;
    GetEnv* const slot = find_slot(handle);
    if (slot == nullptr) return;
    g_core = choice.core;
    const GetEnv before = std::exchange(*slot, &answer);
    quit();
    init();
    *slot = before;
    return;
  }
}

}  // namespace tsr::cpu

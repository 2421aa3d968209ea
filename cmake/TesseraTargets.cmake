# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# tsr_build_flags (how our code is compiled) and the functions that declare layers and tests.

# For programs that are compiled as users do, too; without sanitizers it has no flags.
add_library(tsr_sanitizers INTERFACE)
if(TSR_SANITIZE)
  string(REPLACE ";" "," tsr_sanitize_list "${TSR_SANITIZE}")
  set(tsr_sanitize_flags "-fsanitize=${tsr_sanitize_list}" -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_options(tsr_sanitizers INTERFACE ${tsr_sanitize_flags})
  target_link_options(tsr_sanitizers INTERFACE ${tsr_sanitize_flags})
  # A back trace has the names of functions then, but no lines; a report of undefined behaviour has its line in any case.
  if(TSR_SANITIZE_QUICK)
    target_compile_options(tsr_sanitizers INTERFACE -g0)
  endif()
endif()

add_library(tsr_build_flags INTERFACE)
target_include_directories(tsr_build_flags INTERFACE "${PROJECT_SOURCE_DIR}/src"
                                                     "${PROJECT_SOURCE_DIR}/include")
target_compile_options(
  tsr_build_flags INTERFACE -fvisibility=hidden $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
                            -fno-semantic-interposition -ftls-model=initial-exec
                            "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
target_link_libraries(tsr_build_flags INTERFACE tsr_sanitizers Threads::Threads)
# Line tables only: enough for back traces and profilers at a fraction of the object size. The ABI
# differ reads full DWARF, and every exported function is defined in capi, which asks for it; where variables
# are at each instruction says nothing to it, and takes a fifth of the compile time.
set(tsr_full_debug "$<BOOL:$<TARGET_PROPERTY:TSR_FULL_DEBUG>>")
set(tsr_full_debug_flags -g "$<$<CXX_COMPILER_ID:GNU>:-fno-var-tracking;-fno-var-tracking-assignments>")
target_compile_options(
  tsr_build_flags INTERFACE "$<$<CONFIG:Release>:$<IF:${tsr_full_debug},${tsr_full_debug_flags},-g1>>")

add_library(tsr_warnings INTERFACE)
target_compile_options(tsr_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion
                                              $<$<BOOL:${tsr_warnings_are_errors}>:-Werror>)
# Tests compare with literals of all types, and gtest's macros convert implicitly. Their own lines are of use to a
# debugger, whose build is `dev`, and to a sanitizer.
add_library(tsr_test_flags INTERFACE)
target_compile_options(tsr_test_flags INTERFACE -Wall -Wextra -Wshadow $<$<BOOL:${tsr_warnings_are_errors}>:-Werror>
                                                $<$<CONFIG:Release>:-g0>)
# GCC's garbage collector visits the whole precompiled header, of 140 MB, each time.
target_compile_options(tsr_test_flags INTERFACE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:--param=ggc-min-heapsize=524288>)
# What a test itself does is checked less with TSR_SANITIZE_QUICK. To be linked last: the sanitizers' flags come first.
add_library(tsr_quick_tests INTERFACE)
if(TSR_SANITIZE_QUICK)
  target_compile_options(tsr_quick_tests INTERFACE -fno-sanitize=undefined)
endif()

# For ccache, which else takes no compilation with a precompiled header, or misses every one.
set(tsr_pch_flags $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fpch-preprocess>
                  "$<$<COMPILE_LANG_AND_ID:CXX,Clang>:SHELL:-Xclang -fno-pch-timestamp>")

# tsr_write_batches(<variable> <folder> <file>...): the variable becomes files that include up to eight of the files each.
# <folder> is where the files are, as an include path: it is the same in all clones, for the compiler cache.
function(tsr_write_batches variable folder)
  set(batches "")
  set(batch "${ARGN}")
  while(batch)
    list(GET batch 0 first)
    list(SUBLIST batch 0 8 files)
    list(REMOVE_ITEM batch ${files})
    list(TRANSFORM files REPLACE "(.+)" "#include \"${folder}/\\1\"\n")
    list(JOIN files "" text)
    file(CONFIGURE OUTPUT "batches/${first}" CONTENT "${text}")
    list(APPEND batches "${CMAKE_CURRENT_BINARY_DIR}/batches/${first}")
  endwhile()
  set(${variable} "${batches}" PARENT_SCOPE)
endfunction()

# tsr_folder_batches(<variable> <path> <file>...): the sources to compile instead of these, which other files would include
# as <path>/<file>. One file includes several of a folder, so that headers are read and the instances of templates compiled
# once for all of them.
function(tsr_folder_batches variable path)
  set(sources "")
  set(folders "")
  foreach(source IN LISTS ARGN)
    get_filename_component(folder "./${source}" DIRECTORY)
    list(APPEND folders "${folder}")
    list(APPEND "files_${folder}" "${source}")
  endforeach()
  list(REMOVE_DUPLICATES folders)
  foreach(folder IN LISTS folders)
    tsr_write_batches(batches "${path}" ${files_${folder}})
    list(APPEND sources ${batches})
  endforeach()
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# tsr_layer_batches(<variable> <file>...): as tsr_folder_batches, for the files of the current folder; these themselves
# without TSR_BATCHES.
function(tsr_layer_batches variable)
  if(NOT TSR_BATCHES)
    set(${variable} "${ARGN}" PARENT_SCOPE)
    return()
  endif()
  # Layers see their folders as "ops", and "capi", which is beside src, as "capi".
  file(RELATIVE_PATH path "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REGEX REPLACE "^src/" "" path "${path}")
  tsr_folder_batches(sources "${path}" ${ARGN})
  set(${variable} "${sources}" PARENT_SCOPE)
endfunction()

# tsr_layer(<name> SOURCES file... [BATCHES] [ALONE file...] [LINK target...]
#           [HEADERS <header>... | HEADERS_OF <target> | NO_HEADERS])
# One OBJECT library tsr_<name>. With BATCHES several SOURCES of a folder may be compiled as one, and therefore have no
# name in common, not even in unnamed namespaces. Files that have one are ALONE, and so are files with options of their
# own, those with code that runs when the library is loaded, which check_exports knows by the name of the file, and those
# that are slower in a batch because GCC inlines less of them (check_instructions). What its files include most is
# precompiled: HEADERS, or what another target has precompiled with the same flags, else the
# headers of the standard library.
function(tsr_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "BATCHES;NO_HEADERS" "HEADERS_OF" "SOURCES;ALONE;LINK;HEADERS")
  if(arg_BATCHES)
    tsr_layer_batches(arg_SOURCES ${arg_SOURCES})
  endif()
  add_library(tsr_${name} OBJECT ${arg_SOURCES} ${arg_ALONE})
  target_link_libraries(tsr_${name} PRIVATE tsr_build_flags tsr_warnings ${arg_LINK})
  if(TSR_PRECOMPILE AND NOT arg_NO_HEADERS)
    target_compile_options(tsr_${name} PRIVATE ${tsr_pch_flags})
    if(arg_HEADERS)
      target_precompile_headers(tsr_${name} PRIVATE ${arg_HEADERS})
    elseif(arg_HEADERS_OF)
      target_precompile_headers(tsr_${name} REUSE_FROM ${arg_HEADERS_OF})
    elseif("OpenMP::OpenMP_CXX" IN_LIST arg_LINK)
      target_precompile_headers(tsr_${name} REUSE_FROM tsr_openmp_headers)
    else()
      target_precompile_headers(tsr_${name} REUSE_FROM tsr_layer_headers)
    endif()
  endif()
  set_property(GLOBAL APPEND PROPERTY TSR_LAYER_TARGETS tsr_${name})
endfunction()

# Precompiled headers need the same flags everywhere: those of OpenMP come from the static library in some
# programs.
set(tsr_test_pch_flags $<$<COMPILE_LANGUAGE:CXX>:$<TARGET_PROPERTY:OpenMP::OpenMP_CXX,INTERFACE_COMPILE_OPTIONS>>
                       ${tsr_pch_flags})

# tsr_batches(<variable> <file>...): the sources to compile instead of a test program's. With TSR_BATCHES several files
# test_*.cpp are included by one, so that headers are read and templates compiled once for all of them; not those with
# options of their own. A name in two files is an error then, and none in the preset dev: each test file has a namespace.
function(tsr_batches variable)
  set(sources "")
  set(batch "")
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}/tests" "${CMAKE_CURRENT_SOURCE_DIR}")
  foreach(source IN LISTS ARGN)
    get_source_file_property(options "${source}" COMPILE_OPTIONS)
    if(NOT TSR_BATCHES OR options OR NOT source MATCHES "^([a-z]+/)?test_[a-z0-9_]+\\.cpp$")
      list(APPEND sources "${source}")
    else()
      list(APPEND batch "${source}")
    endif()
  endforeach()
  tsr_write_batches(batches "${folder}" ${batch})
  set(${variable} "${sources};${batches}" PARENT_SCOPE)
endfunction()

# What is shipped is linked by the compiler's own linker; test programs, and a library with sanitizers, by lld if it is
# installed.
set(tsr_test_linker "")
find_program(TSR_LLD ld.lld)
if(TSR_LLD)
  set(tsr_test_linker -fuse-ld=lld)
endif()

# tsr_test(<name> SOURCES file... [SHARED] [REPLACES_NEW] [LABELS label...] [LINK target...])
# One GoogleTest executable test_<name>. It links the static library and may use its internals; with SHARED
# it links libtessera itself and can use only the C ABI. GoogleTest's header and those of the library take most of the
# compile time of most tests, so they are precompiled (tests/support/CMakeLists.txt). With REPLACES_NEW operator new of the
# program may fail (tests/support/failing_new.h). Such a program is not built with the thread sanitizer, which has an
# operator new of its own; therefore it has only tests of one thread.
function(tsr_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SHARED;REPLACES_NEW" "" "SOURCES;LABELS;LINK")
  if(arg_SOURCES MATCHES "failing_new")
    message(FATAL_ERROR "test_${name}: expected REPLACES_NEW instead of failing_new.cpp among the sources")
  endif()
  if(arg_REPLACES_NEW)
    if(TSR_SANITIZE STREQUAL "thread")
      return()
    endif()
    list(APPEND arg_SOURCES "${PROJECT_SOURCE_DIR}/tests/support/failing_new.cpp")
  endif()
  if(NOT arg_LABELS)
    set(arg_LABELS unit)
  endif()
  tsr_batches(sources ${arg_SOURCES})
  add_executable(test_${name} ${sources})
  if(arg_SHARED)
    # Not tsr_test_support: it links tessera_static, and a single object of that in the program, even one
    # needed for a weak function of the standard library, is a second copy of the library with separate
    # state.
    target_link_libraries(test_${name} PRIVATE tessera)
    set(headers tsr_test_headers)
  else()
    set(headers tsr_unit_test_headers)
    target_link_libraries(test_${name} PRIVATE tsr_test_support tessera_static)
    # Of an inline function in the test and in the library the first copy stays: the library's, with all checks.
    if(TSR_SANITIZE_QUICK)
      target_link_options(test_${name} PRIVATE
                          "LINKER:--whole-archive,$<TARGET_FILE:tessera_static>,--no-whole-archive")
    endif()
  endif()
  target_link_libraries(test_${name} PRIVATE tsr_build_flags tsr_test_flags ${arg_LINK}
                                             GTest::gtest GTest::gtest_main tsr_quick_tests)
  target_include_directories(test_${name} PRIVATE "${PROJECT_SOURCE_DIR}"
                                                  "${PROJECT_SOURCE_DIR}/tests")
  target_compile_options(test_${name} PRIVATE ${tsr_test_pch_flags})
  target_precompile_headers(test_${name} REUSE_FROM ${headers})
  add_test(NAME test_${name}
           COMMAND test_${name} "--gtest_output=xml:${PROJECT_BINARY_DIR}/reports/test_${name}.xml")
  set_tests_properties(test_${name} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT 900)
endfunction()

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Programs: the functions of the ABI.
#include "base/thread_exit.h"
#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/json_args.h"
#include "capi/objects.h"
#include "capi/program/program.h"
#include "capi/program/recorder.h"

using namespace tsr;
using namespace tsr::capi;
using program::Program;
using program::Recorder;

namespace {

Program& program_arg(tsr_program handle) {
  return *object_arg<Program>(handle, program::kProgramTag, "program", "program");
}

std::vector<std::string> names_or(std::optional<std::string_view> given, size_t count,
                                  const char* prefix, const char* arg) {
  if (given && !given->empty()) return names_arg(*given, count, arg);
  std::vector<std::string> names;
  for (size_t i = 0; i < count; ++i) names.push_back(concat(prefix, i));
  return names;
}

std::vector<Program*> programs_arg(const tsr_program* programs, int32_t n_programs) {
  std::vector<Program*> list;
  for (const tsr_program each : list_arg(programs, n_programs, "programs"))
    list.push_back(object_arg<Program>(each, program::kProgramTag, "program", "programs"));
  return list;
}

void cancel() noexcept {
  delete std::exchange(program::t_recorder, nullptr);
}

}  // namespace

extern "C" {

tsr_status tsr_program_record_begin(const tsr_tensor* inputs, int32_t n_inputs,
                                    const char* input_names, int64_t input_names_len,
                                    const tsr_tensor* parameters, int32_t n_parameters,
                                    const char* parameter_names, int64_t parameter_names_len) {
  const Call call(kInfo_program_record_begin, ListOf{inputs, n_inputs},
                  TextOf{input_names, input_names_len}, ListOf{parameters, n_parameters},
                  TextOf{parameter_names, parameter_names_len});
  return guard(call, [&] {
    const auto given = tensors_arg(inputs, n_inputs, "inputs");
    const auto kept = tensors_arg(parameters, n_parameters, "parameters");
    const auto text = optional_text_arg(input_names, input_names_len, "input_names");
    const auto kept_text =
        optional_text_arg(parameter_names, parameter_names_len, "parameter_names");
    TSR_CHECK(program::t_recorder == nullptr, Code::kValue, nullptr,
              "this thread records a program already");
    const auto names = names_or(text, given.size(), "input", "input_names");
    const auto kept_names = names_or(kept_text, kept.size(), "parameter", "parameter_names");
    if (!at_thread_exit(ThreadPart::kProgram, cancel)) throw std::bad_alloc();
    program::t_recorder = new Recorder(given, names, kept, kept_names);
  });
}

tsr_status tsr_program_record_end(const tsr_tensor* outputs, int32_t n_outputs,
                                  const char* output_names, int64_t output_names_len,
                                  tsr_program* program) {
  clear(program);
  const Call call(kInfo_program_record_end, ListOf{outputs, n_outputs},
                  TextOf{output_names, output_names_len});
  const tsr_status status = guard(call, [&] {
    out_arg(program, "program");
    const auto given = tensors_arg(outputs, n_outputs, "outputs");
    const auto text = optional_text_arg(output_names, output_names_len, "output_names");
    TSR_CHECK(program::t_recorder != nullptr, Code::kValue, nullptr,
              "this thread does not record a program");
    const auto names = names_or(text, given.size(), "output", "output_names");
    give_object(program::t_recorder->finish(given, names).detach(), program);
  });
  cancel();
  return status;
}

tsr_status tsr_program_record_cancel(void) {
  const tsr_status status = guard(kInfo_program_record_cancel, [] {});
  cancel();
  return status;
}

int32_t tsr_program_recording(void) {
  return program::t_recorder == nullptr ? 0 : 1;
}

void tsr_program_retain(tsr_program program) {
  retain_handle(program, program::kProgramTag);
}

void tsr_program_release(tsr_program program) {
  release_handle<Program>(program, program::kProgramTag);
}

tsr_status tsr_program_counts(tsr_program program, int64_t* inputs, int64_t* outputs) {
  return guard(Call(kInfo_program_counts, program), [&] {
    const Program& of = program_arg(program);
    out_arg(outputs, "outputs");
    *out_arg(inputs, "inputs") = static_cast<int64_t>(of.inputs.size());
    *outputs = static_cast<int64_t>(of.outputs.size());
  });
}

tsr_status tsr_program_run(tsr_program program, const tsr_tensor* inputs, int32_t n_inputs,
                           tsr_tensor* outputs, int32_t outputs_capacity, int32_t* outputs_count) {
  clear_count(outputs_count);
  const tsr_status status = guard(Call(kInfo_program_run, program, ListOf{inputs, n_inputs}), [&] {
    Program& of = program_arg(program);
    const auto given = tensors_arg(inputs, n_inputs, "inputs");
    check_list_out(outputs, outputs_capacity, outputs_count, "outputs");
    // Before the run, which may change parameters and must not be made twice.
    const auto wanted = static_cast<int32_t>(of.outputs.size());
    if (outputs_capacity < wanted) {
      *outputs_count = wanted;
      fail(Code::kBuffer, "outputs", __FILE__, __LINE__, "expected room for ", wanted,
           " tensors, got ", outputs_capacity);
    }
    give_list(of.run(given), outputs, outputs_capacity, outputs_count);
  });
  if (status != TSR_OK) clear_list(outputs, outputs_capacity);
  return status;
}

tsr_status tsr_program_save(tsr_program program, const char* path, int64_t path_len) {
  return guard(Call(kInfo_program_save, program, TextOf{path, path_len}),
               [&] { program::save(program_arg(program), path_arg(path, path_len)); });
}

tsr_status tsr_program_load(const char* path, int64_t path_len, tsr_program* program) {
  clear(program);
  return guard(Call(kInfo_program_load, TextOf{path, path_len}), [&] {
    out_arg(program, "program");
    give_object(program::load(path_arg(path, path_len)).detach(), program);
  });
}

tsr_status tsr_program_to_bytes(tsr_program program, tsr_buffer* bytes) {
  clear(bytes);
  return guard(Call(kInfo_program_to_bytes, program), [&] {
    out_arg(bytes, "bytes");
    give_text(program::to_bytes(program_arg(program)), bytes);
  });
}

tsr_status tsr_program_from_bytes(const char* bytes, int64_t bytes_len, tsr_program* program) {
  clear(program);
  return guard(Call(kInfo_program_from_bytes, TextOf{bytes, bytes_len}), [&] {
    out_arg(program, "program");
    give_object(program::from_bytes(text_arg(bytes, bytes_len, "bytes")).detach(), program);
  });
}

tsr_status tsr_program_describe(tsr_program program, tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_program_describe, program), [&] {
    out_arg(json, "json");
    give_text(program::describe(program_arg(program)), json);
  });
}

tsr_status tsr_program_text(tsr_program program, tsr_buffer* text) {
  clear(text);
  return guard(Call(kInfo_program_text, program), [&] {
    out_arg(text, "text");
    give_text(program::to_text(program_arg(program)), text);
  });
}

tsr_status tsr_program_unify(const tsr_program* programs, int32_t n_programs,
                             tsr_program* program) {
  clear(program);
  return guard(Call(kInfo_program_unify, programs), [&] {
    out_arg(program, "program");
    give_object(program::unify(programs_arg(programs, n_programs), {}).detach(), program);
  });
}

tsr_status tsr_program_unify_named(const tsr_program* programs, int32_t n_programs,
                                   const char* names, int64_t names_len, tsr_program* program) {
  clear(program);
  return guard(Call(kInfo_program_unify_named, programs, TextOf{names, names_len}), [&] {
    out_arg(program, "program");
    const std::vector<Program*> list = programs_arg(programs, n_programs);
    const std::vector<std::string> given = names_arg(text_arg(names, names_len, "names"));
    TSR_CHECK(!given.empty(), Code::kValue, "names", "expected a name for each size that differs");
    give_object(program::unify(list, given).detach(), program);
  });
}

tsr_status tsr_program_tensor(tsr_program program, const char* name, int64_t name_len,
                              tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_program_tensor, program, TextOf{name, name_len}), [&] {
    out_arg(out, "out");
    const Program& of = program_arg(program);
    const std::string_view wanted = text_arg(name, name_len, "name");
    const int32_t value = of.find(wanted);
    const bool is_stored =
        value != program::kAbsent && of.values[static_cast<size_t>(value)].stored.defined();
    TSR_CHECK(is_stored, Code::kValue, "name",
              "expected the name of a parameter or constant of the program, got '", wanted, "'");
    give(Tensor(of.values[static_cast<size_t>(value)].stored), out);
  });
}

tsr_status tsr_program_optimizer(tsr_program program, int64_t index, tsr_optimizer* optimizer) {
  clear(optimizer);
  return guard(Call(kInfo_program_optimizer, program, index), [&] {
    out_arg(optimizer, "optimizer");
    const auto& list = program_arg(program).optimizers;
    TSR_CHECK(index >= 0 && static_cast<size_t>(index) < list.size(), Code::kIndex, "index",
              "expected a number from 0 below ", list.size(), ", got ", index);
    give_object(IntrusivePtr<optim::Optimizer>(list[static_cast<size_t>(index)]).detach(),
                optimizer);
  });
}

}  // extern "C"

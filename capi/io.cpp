// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Archives of tensors.
#include "io/safetensors.h"

#include "capi/generated/infos.h"
#include "capi/give_text.h"
#include "capi/handle.h"
#include "capi/json_args.h"

using namespace tsr;
using namespace tsr::capi;

namespace {

io::Archive& archive_arg(tsr_archive handle) {
  return *object_arg<io::Archive>(handle, io::kArchiveTag, "archive", "archive");
}

const io::ArchiveEntry& entry_arg(tsr_archive handle, int64_t index) {
  const auto& entries = archive_arg(handle).header.entries;
  TSR_CHECK(index >= 0 && static_cast<size_t>(index) < entries.size(), Code::kIndex, "index",
            "expected a number from 0 below ", entries.size(), ", got ", index);
  return entries[static_cast<size_t>(index)];
}

}  // namespace

extern "C" {

tsr_status tsr_archive_open(const char* path, int64_t path_len, tsr_archive* archive) {
  clear(archive);
  return guard(Call(kInfo_archive_open, TextOf{path, path_len}), [&] {
    out_arg(archive, "archive");
    give_object(io::Archive::open(path_arg(path, path_len)).detach(), archive);
  });
}

void tsr_archive_retain(tsr_archive archive) {
  retain_handle(archive, io::kArchiveTag);
}

void tsr_archive_release(tsr_archive archive) {
  release_handle<io::Archive>(archive, io::kArchiveTag);
}

tsr_status tsr_archive_count(tsr_archive archive, int64_t* count) {
  return guard(Call(kInfo_archive_count, archive), [&] {
    *out_arg(count, "count") = static_cast<int64_t>(archive_arg(archive).header.entries.size());
  });
}

tsr_status tsr_archive_name(tsr_archive archive, int64_t index, const char** name,
                            int64_t* name_len) {
  return guard(Call(kInfo_archive_name, archive, index), [&] {
    const io::ArchiveEntry& entry = entry_arg(archive, index);
    *out_arg(name, "name") = entry.name.c_str();
    *out_arg(name_len, "name") = static_cast<int64_t>(entry.name.size());
  });
}

tsr_status tsr_archive_tensor(tsr_archive archive, int64_t index, tsr_tensor* out) {
  clear(out);
  return guard(Call(kInfo_archive_tensor, archive, index), [&] {
    out_arg(out, "out");
    static_cast<void>(entry_arg(archive, index));
    give(archive_arg(archive).tensor(static_cast<size_t>(index)), out);
  });
}

tsr_status tsr_archive_metadata(tsr_archive archive, tsr_buffer* json) {
  clear(json);
  return guard(Call(kInfo_archive_metadata, archive), [&] {
    out_arg(json, "json");
    give_text(io::metadata_json(archive_arg(archive).header.metadata), json);
  });
}

tsr_status tsr_archive_save(const char* path, int64_t path_len, const char* names,
                            int64_t names_len, const tsr_tensor* tensors, int32_t n_tensors,
                            const char* metadata, int64_t metadata_len) {
  const Call call(kInfo_archive_save, TextOf{path, path_len}, TextOf{names, names_len},
                  ListOf{tensors, n_tensors}, TextOf{metadata, metadata_len});
  return guard(call, [&] {
    const std::string file = path_arg(path, path_len);
    const auto list = tensors_arg(tensors, n_tensors, "tensors");
    const std::string_view names_text = text_arg(names, names_len, "names");
    const std::string_view metadata_text = text_arg(metadata, metadata_len, "metadata");
    const auto spelled = names_arg(names_text, list.size());
    std::vector<io::NamedTensor> named;
    for (size_t i = 0; i < list.size(); ++i) named.push_back({spelled[i], &list[i]});
    io::save_archive(file, named, metadata_arg(metadata_text));
  });
}

}  // extern "C"

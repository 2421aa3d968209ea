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

// Calls write(named tensors, metadata) with what a caller wants in a file.
template <class Write>
void with_contents(std::string_view names, const tsr_tensor* tensors, int32_t n_tensors,
                   std::string_view metadata, const Write& write) {
  const auto list = tensors_arg(tensors, n_tensors, "tensors");
  const auto spelled = names_arg(names, list.size());
  std::vector<io::NamedTensor> named;
  for (size_t i = 0; i < list.size(); ++i) named.push_back({spelled[i], &list[i]});
  write(named, metadata_arg(metadata));
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

tsr_status tsr_archive_from_bytes(const char* bytes, int64_t bytes_len, tsr_archive* archive) {
  clear(archive);
  return guard(Call(kInfo_archive_from_bytes, TextOf{bytes, bytes_len}), [&] {
    out_arg(archive, "archive");
    give_object(io::Archive::from_bytes(text_arg(bytes, bytes_len, "bytes")).detach(), archive);
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

tsr_status tsr_archive_find(tsr_archive archive, const char* name, int64_t name_len,
                            int64_t* index) {
  return guard(Call(kInfo_archive_find, archive, TextOf{name, name_len}), [&] {
    out_arg(index, "index");
    *index = archive_arg(archive).find(text_arg(name, name_len, "name"));
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
    with_contents(text_arg(names, names_len, "names"), tensors, n_tensors,
                  text_arg(metadata, metadata_len, "metadata"),
                  [&](const auto& named, const io::Metadata& texts) {
                    io::save_archive(file, named, texts);
                  });
  });
}

tsr_status tsr_archive_to_bytes(const char* names, int64_t names_len, const tsr_tensor* tensors,
                                int32_t n_tensors, const char* metadata, int64_t metadata_len,
                                tsr_buffer* bytes) {
  clear(bytes);
  const Call call(kInfo_archive_to_bytes, TextOf{names, names_len}, ListOf{tensors, n_tensors},
                  TextOf{metadata, metadata_len});
  return guard(call, [&] {
    out_arg(bytes, "bytes");
    with_contents(text_arg(names, names_len, "names"), tensors, n_tensors,
                  text_arg(metadata, metadata_len, "metadata"),
                  [&](const auto& named, const io::Metadata& texts) {
                    give_text(io::archive_bytes(named, texts), bytes);
                  });
  });
}

}  // extern "C"

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Reads the header of a safetensors file event by event. Refuses an invalid header at once, before
// memory is spent on the rest of a header of up to 100 MB.
#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_set>

#include "base/json.h"
#include "io/safetensors.h"
#include "io/spelling.h"

namespace tsr::io {
namespace {

constexpr size_t kMaxRank = 64;

// A text from a file may be as long as the file; a message shows its beginning.
std::string_view shown(std::string_view text) {
  constexpr size_t kLongest = 80;
  if (text.size() <= kLongest) return text;
  size_t end = kLongest;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end);
}

DType dtype_called(const std::string& text, const std::string& name) {
  for (const Spelling& spelling : kSpellings) {
    if (text == spelling.text) return spelling.dtype;
  }
  refuse("'", shown(name), "' has the unknown dtype ", shown(text));
}

// Receives the events of one parse. An entry is complete when its object ends.
class HeaderReader final : public JsonEvents {
 public:
  ArchiveHeader take() && { return std::move(header_); }

  void null() override { unexpected("null"); }
  void boolean(bool /*value*/) override { unexpected("true or false"); }
  void real(double /*value*/, const std::string& text) override { not_natural(text); }
  void integer(int64_t value) override { not_natural(std::to_string(value)); }
  void natural(uint64_t value) override;
  void string(std::string& value) override;
  void start_object() override;
  void key(std::string& name) override;
  void end_object() override;
  void start_array() override;
  void end_array() override;
  [[noreturn]] void no_json(const char* why) override {
    refuse("its header is not JSON: ", shown(why));
  }

 private:
  enum class Place { kStart, kTop, kMetadata, kEntry, kShape, kOffsets };

  [[noreturn]] void unexpected(std::string_view what) const;
  [[noreturn]] void not_natural(const std::string& number) const;
  void finish_entry();

  ArchiveHeader header_;
  Place place_ = Place::kStart;
  std::unordered_set<std::string> names_;  // of the object at the top
  std::unordered_set<std::string> keys_;   // of the metadata, or of the entry
  std::string name_, key_;
  std::optional<DType> dtype_;
  std::vector<int64_t> shape_;
  std::vector<uint64_t> offsets_;
};

void HeaderReader::unexpected(std::string_view what) const {
  switch (place_) {
    case Place::kStart:
      refuse("its header is no object");
    case Place::kTop:
      refuse("'", shown(name_), "' needs dtype, shape and data_offsets, got ", what);
    case Place::kMetadata:
      refuse("its __metadata__ has a value that is no text");
    case Place::kEntry:
      refuse("'", shown(name_), "' has ", what, " as its ", shown(key_));
    case Place::kShape:
    case Place::kOffsets:
      break;
  }
  refuse("'", shown(name_), "' has ", what, " in its ", shown(key_));
}

void HeaderReader::not_natural(const std::string& number) const {
  if (place_ != Place::kShape && place_ != Place::kOffsets) unexpected("a number");
  refuse("'", shown(name_), "' has a ", place_ == Place::kShape ? "size" : "data offset",
         " that is no natural number: ", shown(number));
}

void HeaderReader::natural(uint64_t value) {
  if (value > static_cast<uint64_t>(INT64_MAX)) not_natural(std::to_string(value));
  if (place_ == Place::kShape) {
    if (shape_.size() == kMaxRank) {
      refuse("'", shown(name_), "' has more than ", kMaxRank, " sizes in its shape");
    }
    shape_.push_back(static_cast<int64_t>(value));
  } else if (place_ == Place::kOffsets) {
    if (offsets_.size() == 2) refuse("'", shown(name_), "' has more than two data_offsets");
    offsets_.push_back(value);
  } else {
    unexpected("a number");
  }
}

void HeaderReader::string(std::string& value) {
  if (place_ == Place::kMetadata) {
    header_.metadata.emplace_back(key_, std::move(value));
  } else if (place_ == Place::kEntry && key_ == "dtype") {
    dtype_ = dtype_called(value, name_);
  } else {
    unexpected("a text");
  }
}

void HeaderReader::start_object() {
  if (place_ == Place::kStart) {
    place_ = Place::kTop;
  } else if (place_ == Place::kTop) {
    place_ = name_ == "__metadata__" ? Place::kMetadata : Place::kEntry;
    keys_.clear();
    dtype_.reset();
    shape_.clear();
    offsets_.clear();
  } else {
    unexpected("an object");
  }
}

void HeaderReader::key(std::string& name) {
  const bool top = place_ == Place::kTop;
  if (!(top ? names_ : keys_).insert(name).second) {
    refuse("its header has the key '", shown(name), "' twice");
  }
  if (place_ == Place::kEntry && name != "dtype" && name != "shape" && name != "data_offsets") {
    refuse("'", shown(name_), "' has the unknown key '", shown(name), "'");
  }
  (top ? name_ : key_) = std::move(name);
}

void HeaderReader::end_object() {
  if (place_ == Place::kEntry) finish_entry();
  place_ = Place::kTop;
}

void HeaderReader::start_array() {
  if (place_ == Place::kEntry && key_ == "shape") {
    place_ = Place::kShape;
  } else if (place_ == Place::kEntry && key_ == "data_offsets") {
    place_ = Place::kOffsets;
  } else {
    unexpected("a list");
  }
}

void HeaderReader::end_array() {
  if (place_ == Place::kOffsets && offsets_.size() != 2) {
    refuse("'", shown(name_), "' needs two data_offsets");
  }
  place_ = Place::kEntry;
}

void HeaderReader::finish_entry() {
  if (keys_.size() != 3) refuse("'", shown(name_), "' needs dtype, shape and data_offsets");
  uint64_t nbytes = static_cast<uint64_t>(itemsize(*dtype_));
  bool overflow = false;
  bool empty = false;
  for (const int64_t size : shape_) {
    const auto count = static_cast<uint64_t>(size);
    overflow |= __builtin_mul_overflow(nbytes, std::max<uint64_t>(count, 1), &nbytes);
    empty |= count == 0;
  }
  overflow |= nbytes > static_cast<uint64_t>(INT64_MAX);
  if (empty) nbytes = 0;
  const uint64_t begin = offsets_[0];
  const uint64_t end = offsets_[1];
  if (overflow || end < begin || end - begin != nbytes) {
    refuse("'", shown(name_), "' has data_offsets that do not fit its shape and dtype");
  }
  header_.entries.push_back({name_, *dtype_, shape_, begin, end});
}

}  // namespace

ArchiveHeader parse_header(std::string_view json, uint64_t data_size) {
  if (json.empty() || json.front() != '{') refuse("its header does not start with '{'");
  // The parser treats a zero byte as the end of the text.
  if (json.find('\0') != std::string_view::npos) refuse("its header has a zero byte in it");
  HeaderReader reader;
  read_json(json, reader);
  ArchiveHeader header = std::move(reader).take();
  std::sort(header.entries.begin(), header.entries.end(), [](const auto& a, const auto& b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  uint64_t at = 0;
  for (const ArchiveEntry& entry : header.entries) {
    if (entry.begin != at)
      refuse("'", shown(entry.name), "' leaves a hole or overlaps its neighbour");
    at = entry.end;
  }
  if (at != data_size) refuse("its tensors take ", at, " bytes, the file has ", data_size);
  return header;
}

}  // namespace tsr::io

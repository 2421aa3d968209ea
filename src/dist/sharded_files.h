// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Checkpoints that several ranks write together and that any number of ranks can read: a folder
// with one safetensors file per rank and an index that says where each part of a tensor is.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dist/collectives.h"
#include "io/safetensors.h"
#include "tensor/tensor.h"

namespace tsr::dist {

// A box in a tensor: where it begins and how large it is, along each axis.
struct Region {
  Dims offset, sizes;
};

// A tensor, or the part of it that this rank has.
struct ShardItem {
  std::string name;
  Tensor tensor;
  // Absent: all of it. Else the tensor is the region that begins at `offset` of one with the shape
  // `whole`.
  struct Part {
    Dims offset, whole;
  };
  std::optional<Part> part;
};

// All ranks call it together; a null group is a single process. A tensor that several ranks have
// completely is written once: large ones in equal parts by these ranks, small ones and those with
// fewer rows than ranks by the rank with the least to write. The index is written last, so that an
// interrupted save leaves the old checkpoint; files of earlier saves are removed then. If a rank
// fails, all throw.
//
// Throws kIo, kValue for a name that a rank gives twice or for parts that overlap or leave gaps,
// kShape, kDType if the ranks do not agree about a tensor.
void save_shards(const std::string& folder, std::span<const ShardItem> items,
                 const io::Metadata& metadata, Group* group);

// Copies what was saved into the tensors, in their dtype and on their device. Every rank reads for
// itself what it asks for, however it was divided. Throws kIo, kValue for a name that is not there,
// kShape, and for tensors that cannot be written kBuffer, kValue, kDType or kAutograd; it then has
// changed nothing, unless a file is damaged.
void load_shards(const std::string& folder, std::span<const ShardItem> items);

// The index as JSON: {"format", "metadata", "tensors": {name: {"dtype", "shape", "parts": [{"file",
// "offset", "shape"}]}}}. Throws kIo.
std::string shards_index(const std::string& folder);

}  // namespace tsr::dist

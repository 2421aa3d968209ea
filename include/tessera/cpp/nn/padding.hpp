// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Padding of the last one, two or three axes.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "tessera/cpp/nn/module.hpp"
#include "tessera/cpp/nn/sizes.hpp"

namespace tessera::nn {

namespace detail {

enum class PadMode { kConstant, kReflect, kReplicate, kCircular };

// The numbers of elements before and after each axis, the last axis first; one number means all.
template <int kAxes, PadMode kMode>
struct Pad : Module {
  // A separate overload, because {1, 2} could be numbers or a layer to copy.
  Pad(std::initializer_list<int64_t> numbers) : Pad(Sizes<2 * kAxes>(numbers)) {}
  explicit Pad(Sizes<2 * kAxes> numbers) : padding(numbers) {}

  Tensor forward(const Tensor& input) override {
    constexpr std::string_view kModes[] = {"constant", "reflect", "replicate", "circular"};
    return pad(input, padding, kModes[static_cast<int>(kMode)]);
  }

  const Sizes<2 * kAxes> padding;
};

template <int kAxes>
struct ConstantPad : Module {
  // As above.
  ConstantPad(std::initializer_list<int64_t> numbers, const Scalar& number)
      : ConstantPad(Sizes<2 * kAxes>(numbers), number) {}
  ConstantPad(Sizes<2 * kAxes> numbers, const Scalar& number) : padding(numbers), value(number) {}

  Tensor forward(const Tensor& input) override { return pad(input, padding, "constant", value); }

  const Sizes<2 * kAxes> padding;
  const Scalar value;
};

}  // namespace detail

// A number around the axes.
using ConstantPad1d = detail::ConstantPad<1>;
using ConstantPad2d = detail::ConstantPad<2>;
using ConstantPad3d = detail::ConstantPad<3>;

// Zeros around the axes.
using ZeroPad1d = detail::Pad<1, detail::PadMode::kConstant>;
using ZeroPad2d = detail::Pad<2, detail::PadMode::kConstant>;
using ZeroPad3d = detail::Pad<3, detail::PadMode::kConstant>;

// The axes mirrored at their ends, without them.
using ReflectionPad1d = detail::Pad<1, detail::PadMode::kReflect>;
using ReflectionPad2d = detail::Pad<2, detail::PadMode::kReflect>;
using ReflectionPad3d = detail::Pad<3, detail::PadMode::kReflect>;

// The ends of the axes repeated.
using ReplicationPad1d = detail::Pad<1, detail::PadMode::kReplicate>;
using ReplicationPad2d = detail::Pad<2, detail::PadMode::kReplicate>;
using ReplicationPad3d = detail::Pad<3, detail::PadMode::kReplicate>;

// The axes continued from their other ends.
using CircularPad1d = detail::Pad<1, detail::PadMode::kCircular>;
using CircularPad2d = detail::Pad<2, detail::PadMode::kCircular>;
using CircularPad3d = detail::Pad<3, detail::PadMode::kCircular>;

}  // namespace tessera::nn

// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Pointwise ops over lists of tensors, and the two steps of training with scaled losses: one call
// for a whole list.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ops/optim/optim.h"
#include "ops/pointwise/binary.h"

namespace tsr::ops {

// In all functions: item i of every list belongs to item i of the first, and is an operand of the
// op that `operation` names, with the op's rules for shapes, dtypes and derivatives. The functions
// whose name ends in _ write into the tensors of the first list. Throws kInvalidArgument for lists
// of other lengths, kValue for an unknown operation.

using Numbers = std::span<const double>;

// abs, exp, negative, reciprocal, sign, sqrt.
std::vector<Tensor> foreach_unary(TensorList tensors, std::string_view operation);
void foreach_unary_(TensorList tensors, std::string_view operation);

// add, subtract (both with alpha times the second operand), multiply, divide, maximum, minimum,
// pow.
std::vector<Tensor> foreach_binary(TensorList tensors, TensorList others,
                                   std::string_view operation, double alpha = 1);
void foreach_binary_(TensorList tensors, TensorList others, std::string_view operation,
                     double alpha = 1);
// The same with one number for all tensors.
std::vector<Tensor> foreach_scalar(TensorList tensors, const Scalar& other,
                                   std::string_view operation);
void foreach_scalar_(TensorList tensors, const Scalar& other, std::string_view operation);
// The same with a number for each tensor.
std::vector<Tensor> foreach_scalars(TensorList tensors, Numbers others, std::string_view operation);
void foreach_scalars_(TensorList tensors, Numbers others, std::string_view operation);

// addcmul and addcdiv, with one value for all or one for each.
std::vector<Tensor> foreach_ternary(TensorList tensors, TensorList firsts, TensorList seconds,
                                    std::string_view operation, Numbers values);
void foreach_ternary_(TensorList tensors, TensorList firsts, TensorList seconds,
                      std::string_view operation, Numbers values);

// tensor + weight (end - tensor), with a weight that is one number or a tensor for each.
std::vector<Tensor> foreach_lerp(TensorList tensors, TensorList ends, double weight);
void foreach_lerp_(TensorList tensors, TensorList ends, double weight);
std::vector<Tensor> foreach_lerp_tensors(TensorList tensors, TensorList ends, TensorList weights);
void foreach_lerp_tensors_(TensorList tensors, TensorList ends, TensorList weights);

// The norm of each tensor, 0-dim.
std::vector<Tensor> foreach_norm(TensorList tensors, double ord = 2);
void foreach_zero_(TensorList tensors);
void foreach_copy_(TensorList tensors, TensorList sources);

// ---- training with a scaled loss (Micikevicius and others, "Mixed precision training", 2018) ----

// Multiplies the gradients by `inverse_scale` and sets `found_inf` to 1 if one of them has an
// element that is infinite or NaN. Both are float32 with one element.
void amp_unscale_(TensorList grads, const Tensor& found_inf, const Tensor& inverse_scale);
// Where found_inf is not 0 the scale shrinks by backoff_factor; else it grows by growth_factor once
// growth_interval steps in a row found nothing, which growth_tracker (int32) counts. A scale that
// would grow beyond float32 stays.
void amp_update_scale_(const Tensor& scale, const Tensor& growth_tracker, const Tensor& found_inf,
                       double growth_factor, double backoff_factor, int64_t growth_interval);

}  // namespace tsr::ops

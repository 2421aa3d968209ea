// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Recurrent networks: LSTM, GRU and plain ones, over sequences and as cells of one step.
#pragma once

#include <optional>
#include <span>
#include <tuple>

#include "base/generator.h"
#include "tensor/tensor.h"

namespace tsr::ops {

// In the next four functions: input is (time, batch, features), with batch_first (batch, time,
// features), or (time, features) for one sequence. With batch_sizes it is packed (Note [Packed
// sequences] in ops/nn/recurrence.h). params has for each layer, and in it for each direction, w_ih
// (blocks hidden, features), w_hh (blocks hidden, outputs), with has_biases b_ih and b_hh, and for
// an LSTM with a projection w_hr. A state has a row of matrices for each layer and direction; an
// absent one is zeros. Between two layers there is dropout if `train` is set. 16-bit floats are
// computed in float32. They return the outputs of the last layer, those of both directions side by
// side, and the state after the last step. Throw kShape, kDType, kDevice, kValue.

// Blocks i f g o. hx is empty or {h, c}.
std::tuple<Tensor, Tensor, Tensor> lstm(const Tensor& input, std::span<const Tensor> hx,
                                        std::span<const Tensor> params, bool has_biases = true,
                                        int64_t num_layers = 1, double dropout = 0,
                                        bool train = false, bool bidirectional = false,
                                        bool batch_first = false,
                                        std::optional<DimsView> batch_sizes = {},
                                        Generator* generator = nullptr);
// Blocks r z n.
std::tuple<Tensor, Tensor> gru(const Tensor& input, const Tensor& hx,
                               std::span<const Tensor> params, bool has_biases = true,
                               int64_t num_layers = 1, double dropout = 0, bool train = false,
                               bool bidirectional = false, bool batch_first = false,
                               std::optional<DimsView> batch_sizes = {},
                               Generator* generator = nullptr);
std::tuple<Tensor, Tensor> rnn_tanh(const Tensor& input, const Tensor& hx,
                                    std::span<const Tensor> params, bool has_biases = true,
                                    int64_t num_layers = 1, double dropout = 0, bool train = false,
                                    bool bidirectional = false, bool batch_first = false,
                                    std::optional<DimsView> batch_sizes = {},
                                    Generator* generator = nullptr);
std::tuple<Tensor, Tensor> rnn_relu(const Tensor& input, const Tensor& hx,
                                    std::span<const Tensor> params, bool has_biases = true,
                                    int64_t num_layers = 1, double dropout = 0, bool train = false,
                                    bool bidirectional = false, bool batch_first = false,
                                    std::optional<DimsView> batch_sizes = {},
                                    Generator* generator = nullptr);

// One step: input is (batch, features) or (features), states are (batch, hidden) or (hidden), and
// the biases may be undefined. Return the new state.
std::tuple<Tensor, Tensor> lstm_cell(const Tensor& input, std::span<const Tensor> hx,
                                     const Tensor& w_ih, const Tensor& w_hh,
                                     const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor gru_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor rnn_tanh_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});
Tensor rnn_relu_cell(const Tensor& input, const Tensor& hx, const Tensor& w_ih, const Tensor& w_hh,
                     const Tensor& b_ih = {}, const Tensor& b_hh = {});

}  // namespace tsr::ops

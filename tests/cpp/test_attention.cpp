// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Layers of attention, bags of embeddings and bilinear forms. Their values are compared with
// PyTorch by the Python package, which has the same layers; here with the functions below them.
#include <cmath>

#include "support.hpp"

namespace test_attention {

using namespace tessera;
using namespace tessera::test;

namespace {

std::vector<std::string> parameter_names(nn::Module& module) {
  std::vector<std::string> found;
  for (const auto& [name, tensor] : module.named_parameters()) found.push_back(name);
  return found;
}

Tensor sequence(int64_t length, int64_t width, uint64_t seed) {
  return rand({2, length, width}, kFloat64, {}, Generator(seed));
}

nn::MultiheadAttentionOptions in_front() {
  nn::MultiheadAttentionOptions options;
  options.batch_first = true;
  options.dtype = kFloat64;
  return options;
}

TEST(Attention, parameters_have_pytorchs_names_and_shapes) {
  nn::MultiheadAttention plain(6, 2);
  EXPECT_EQ(parameter_names(plain), (std::vector<std::string>{"in_proj_weight", "in_proj_bias",
                                                              "out_proj.weight", "out_proj.bias"}));
  EXPECT_EQ(plain.in_proj_weight.shape(), (std::vector<int64_t>{18, 6}));
  nn::MultiheadAttentionOptions options;
  options.kdim = 3;
  options.bias = false;
  options.add_bias_kv = true;
  nn::MultiheadAttention apart(6, 2, options);
  EXPECT_EQ(parameter_names(apart),
            (std::vector<std::string>{"q_proj_weight", "k_proj_weight", "v_proj_weight", "bias_k",
                                      "bias_v", "out_proj.weight"}));
  apart.load_state_dict(apart.state_dict());
  const TensorMap state = apart.state_dict();
  EXPECT_EQ(state.size(), 6U);
  EXPECT_EQ(state.at("k_proj_weight").shape(), (std::vector<int64_t>{6, 3}));
  EXPECT_EQ(state.at("bias_v").shape(), (std::vector<int64_t>{1, 1, 6}));
  EXPECT_THROW(nn::MultiheadAttention(6, 4), InvalidValueError);
}

TEST(Attention, heads_attend_each_for_itself) {
  manual_seed(2);
  nn::MultiheadAttention layer(4, 2, in_front());
  layer.in_proj_bias.detach().uniform_(-1, 1);
  const Tensor x = sequence(3, 4, 1);
  const Tensor projected = linear(x, layer.in_proj_weight, layer.in_proj_bias);
  std::vector<Tensor> heads;
  for (int64_t h = 0; h < 2; ++h) {
    const auto part = [&](int64_t k) { return projected.narrow(2, 4 * k + 2 * h, 2); };
    heads.push_back(scaled_dot_product_attention(part(0), part(1), part(2)));
  }
  const Tensor wanted = linear(concat(heads, -1), layer.out_proj.weight, layer.out_proj.bias);
  expect_near(layer(x), numbers(wanted), 1e-12);
  const auto [output, weights] = layer.forward(x, x, x);
  expect_near(output, numbers(wanted), 1e-12);
  expect_near(weights.sum(-1), Numbers(6, 1.0), 1e-12);
}

TEST(Attention, masks_hide_keys) {
  nn::MultiheadAttention layer(4, 2, in_front());
  const Tensor x = sequence(3, 4, 3);
  nn::AttentionCall causal;
  causal.is_causal = true;
  const Tensor weights = layer.forward(x, x, x, causal).second;
  EXPECT_EQ(numbers(triu(weights, 1)), Numbers(18, 0.0));
  nn::AttentionCall padded;
  padded.key_padding_mask = tensor({false, false, true, false, true, true}).reshape({2, 3});
  padded.average_attn_weights = false;
  EXPECT_EQ(numbers(layer.forward(x, x, x, padded).second.index({0, 1, 2, 2})), Numbers{0.0});
  padded.need_weights = false;
  EXPECT_FALSE(layer.forward(x, x, x, padded).second.defined());
}

TEST(Attention, an_encoder_layer_adds_and_normalises) {
  manual_seed(4);
  nn::TransformerEncoderLayerOptions options;
  options.dim_feedforward = 5;
  options.batch_first = true;
  options.norm_first = true;
  options.dtype = kFloat64;
  nn::TransformerEncoderLayer layer(4, 2, options);
  EXPECT_EQ(layer.parameters().size(), 12U);
  const Tensor x = sequence(3, 4, 5);
  EXPECT_NE(numbers(layer(x)), numbers(layer(x))) << "dropout";
  layer.eval();
  const Tensor middle = x + layer.self_attn(layer.norm1(x));
  const Tensor wanted = middle + layer.linear2(relu(layer.linear1(layer.norm2(middle))));
  expect_near(layer(x), numbers(wanted), 1e-12);
  layer(x).sum().backward();
  for (const Tensor& parameter : layer.parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(Attention, a_decoder_layer_looks_at_the_memory) {
  manual_seed(4);
  nn::TransformerDecoderLayerOptions options;
  options.dim_feedforward = 5;
  options.batch_first = true;
  options.norm_first = true;
  options.dtype = kFloat64;
  nn::TransformerDecoderLayer layer(4, 2, options);
  EXPECT_EQ(layer.parameters().size(), 18U);
  EXPECT_EQ(layer.named_parameters()[4].first, "multihead_attn.in_proj_weight");
  const Tensor x = sequence(3, 4, 5);
  const Tensor memory = sequence(2, 4, 6);
  EXPECT_NE(numbers(layer.forward(x, memory)), numbers(layer.forward(x, memory))) << "dropout";
  layer.eval();
  const Tensor first = x + layer.self_attn(layer.norm1(x));
  const Tensor second =
      first + layer.multihead_attn.forward(layer.norm2(first), memory, memory).first;
  const Tensor wanted = second + layer.linear2(relu(layer.linear1(layer.norm3(second))));
  expect_near(layer.forward(x, memory), numbers(wanted), 1e-12);
  nn::DecoderCall causal;
  causal.tgt_is_causal = true;
  nn::DecoderCall masked;
  masked.tgt_mask = triu(ones({3, 3}), 1).to(kBool);
  expect_near(layer.forward(x, memory, causal), numbers(layer.forward(x, memory, masked)), 1e-12);
  layer.forward(x, memory).sum().backward();
  for (const Tensor& parameter : layer.parameters()) EXPECT_TRUE(parameter.grad().defined());
}

TEST(Attention, encoder_and_decoder_are_layers_one_after_the_other) {
  nn::TransformerEncoderLayerOptions options;
  options.dim_feedforward = 5;
  options.dropout = 0;
  options.dtype = kFloat64;
  nn::LayerNormOptions wide;
  wide.dtype = kFloat64;
  nn::TransformerEncoder encoder(4, 2, 2, options,
                                 nn::make<nn::LayerNorm>(std::vector<int64_t>{4}, wide));
  nn::TransformerDecoder decoder(4, 2, 2, options);
  EXPECT_EQ(encoder.parameters().size(), 26U);
  EXPECT_EQ(decoder.named_parameters()[18].first, "layers.1.self_attn.in_proj_weight");
  const Tensor x = sequence(3, 4, 5);
  const Tensor memory = encoder(x);
  expect_near(memory, numbers(encoder.norm->forward(encoder.layers[1](encoder.layers[0](x)))),
              1e-12);
  auto& first = static_cast<nn::TransformerDecoderLayer&>(decoder.layers[0]);
  auto& second = static_cast<nn::TransformerDecoderLayer&>(decoder.layers[1]);
  expect_near(decoder.forward(x, memory), numbers(second.forward(first.forward(x, memory), memory)),
              1e-12);
}

TEST(Attention, bags_join_rows) {
  nn::EmbeddingBagOptions options;
  options.mode = "sum";
  options.padding_idx = -1;
  nn::EmbeddingBag bag(4, 2, options);
  EXPECT_EQ(numbers(bag.weight.detach().select(0, 3)), (Numbers{0, 0}));
  const Tensor table = bag.weight.detach();
  const Tensor found = bag.forward(tensor({0, 1, 3, 2}).to(kInt64), tensor({0, 3}).to(kInt64));
  expect_near(found.select(0, 0), numbers(table.select(0, 0) + table.select(0, 1)), 1e-6);
  expect_near(found.select(0, 1), numbers(table.select(0, 2)), 1e-6);
  options.mode = "product";
  EXPECT_THROW(nn::EmbeddingBag(4, 2, options), InvalidValueError);
  options.mode = "max";
  options.padding_idx = 4;
  EXPECT_THROW(nn::EmbeddingBag(4, 2, options), InvalidValueError);
}

TEST(Attention, bilinear_forms_are_products_with_every_matrix) {
  nn::Bilinear form(3, 2, 4, true, kFloat64);
  const Tensor x = sequence(5, 3, 6);
  const Tensor y = sequence(5, 2, 7);
  const Tensor wanted = einsum("bni,oij,bnj->bno", {x, form.weight, y}) + form.bias;
  expect_near(form.forward(x, y), numbers(wanted), 1e-12);
  EXPECT_THROW(nn::Bilinear(0, 2, 4), InvalidValueError);
}

}  // namespace
}  // namespace test_attention

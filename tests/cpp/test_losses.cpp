// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Losses, distances and activations as modules: each gives what its function gives.
#include "support.hpp"

namespace test_losses {

using namespace tessera;
using namespace tessera::test;

namespace {

const Tensor kInput = tensor({{0.5, -1.0, 2.0}, {1.5, 0.25, -0.5}});
const Tensor kOther = tensor({{1.0, -0.5, 0.75}, {0.5, -0.25, 1.0}});
const Tensor kShare = tensor({{0.25, 0.5, 0.75}, {0.5, 0.125, 0.875}});
const Tensor kSign = tensor({1.0, -1.0});

template <class Module>
void expect(Module&& loss, const Tensor& input, const Tensor& target, const Tensor& wanted) {
  EXPECT_TRUE(allclose(loss(input, target), wanted).template item<bool>());
}

}  // namespace

TEST(Losses, are_their_functions) {
  const Tensor signs = sign(kOther);
  const Tensor labels = tensor({int64_t{2}, int64_t{0}});
  const Tensor several = from_vector<int64_t>({2, -1, 0, 1, 0, -1}, {2, 3});
  const Tensor weight = tensor({1.0, 2.0, 3.0});
  expect(nn::L1Loss("sum"), kInput, kOther, l1_loss(kInput, kOther, "sum"));
  expect(nn::SmoothL1Loss(0.5), kInput, kOther, smooth_l1_loss(kInput, kOther, "mean", 0.5));
  expect(nn::HuberLoss(0.5), kInput, kOther, huber_loss(kInput, kOther, "mean", 0.5));
  expect(nn::KLDivLoss("batchmean"), kInput, kShare, kl_div(kInput, kShare, "batchmean"));
  expect(nn::KLDivLoss("mean", true), kInput, kOther, kl_div(kInput, kOther, "mean", true));
  expect(nn::BCELoss(weight), kShare, kShare, binary_cross_entropy(kShare, kShare, weight));
  expect(nn::PoissonNLLLoss(false, true), kShare, kShare,
         poisson_nll_loss(kShare, kShare, false, true));
  expect(nn::SoftMarginLoss("none"), kInput, signs, soft_margin_loss(kInput, signs, "none"));
  expect(nn::HingeEmbeddingLoss(2), kInput, signs, hinge_embedding_loss(kInput, signs, 2));
  expect(nn::MultiMarginLoss(2, 0.5, weight), kInput, labels,
         multi_margin_loss(kInput, labels, 2, 0.5, weight));
  expect(nn::MultiLabelMarginLoss(), kInput, several, multilabel_margin_loss(kInput, several));
  expect(nn::MultiLabelSoftMarginLoss(weight), kInput, kShare,
         multilabel_soft_margin_loss(kInput, kShare, weight));
  expect(nn::CosineSimilarity(), kInput, kOther, cosine_similarity(kInput, kOther));
  expect(nn::PairwiseDistance(1, 1e-6, true), kInput, kOther,
         pairwise_distance(kInput, kOther, 1, 1e-6, true));
}

TEST(Losses, of_three_inputs_are_their_functions) {
  const auto same = [](const Tensor& a, const Tensor& b) { return allclose(a, b).item<bool>(); };
  EXPECT_TRUE(same(nn::GaussianNLLLoss(true)(kInput, kOther, kShare),
                   gaussian_nll_loss(kInput, kOther, kShare, true)));
  EXPECT_TRUE(same(nn::CosineEmbeddingLoss(0.25)(kInput, kOther, kSign),
                   cosine_embedding_loss(kInput, kOther, kSign, 0.25)));
  EXPECT_TRUE(same(nn::MarginRankingLoss(0.25)(kInput, kOther, sign(kOther)),
                   margin_ranking_loss(kInput, kOther, sign(kOther), 0.25)));
  EXPECT_TRUE(same(nn::TripletMarginLoss(2, 1, 1e-6, true)(kInput, kOther, kShare),
                   triplet_margin_loss(kInput, kOther, kShare, 2, 1, 1e-6, true)));
  nn::MarginRankingLoss ranking;
  nn::Loss& base = ranking;
  EXPECT_THROW(base(kInput, kOther), InvalidArgumentError);
}

TEST(Losses, keep_their_weight_in_the_state) {
  nn::BCELoss loss(tensor({2.0, 3.0}));
  ASSERT_EQ(loss.state_dict().count("weight"), 1U);
  EXPECT_THROW(nn::L1Loss("max"), InvalidValueError);
}

TEST(Activations, with_parameters_are_trained) {
  nn::PReLU prelu(3, 0.5);
  EXPECT_TRUE(allclose(prelu(kInput), leaky_relu(kInput, 0.5)).item<bool>());
  prelu(kInput).sum().backward();
  EXPECT_EQ(prelu.weight.grad().shape(), (std::vector<int64_t>{3}));
  EXPECT_TRUE(allclose(nn::Threshold(0.3, 7)(kInput), threshold(kInput, 0.3, 7)).item<bool>());
}

TEST(Init, makes_orthogonal_sparse_and_identical_weights) {
  Tensor weight = empty({3, 5}, kFloat64).requires_grad_();
  nn::init::orthogonal_(weight, 2);
  const Tensor gram = matmul(weight.detach(), matrix_transpose(weight.detach()));
  EXPECT_TRUE(allclose(gram, eye(3, std::nullopt, 0, kFloat64) * 4).item<bool>());
  EXPECT_TRUE(weight.requires_grad());
  Tensor square = empty({4, 6});
  nn::init::sparse_(square, 0.5);
  EXPECT_TRUE((count_nonzero(square, std::vector<int64_t>{0}) == 2).all().item<bool>());
  nn::init::eye_(square);
  EXPECT_EQ(square.sum().item<float>(), 4);
  Tensor kernel = empty({4, 2, 3});
  nn::init::dirac_(kernel, 2);
  EXPECT_EQ(kernel.sum().item<float>(), 4);
  nn::init::trunc_normal_(square, 0, 1, -0.5, 0.5);
  EXPECT_LE(square.abs().max().item<float>(), 0.5F);
}

}  // namespace test_losses

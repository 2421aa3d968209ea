// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
// Toy ops on float64 and float32, slow and simple, to test the engine without the library's own
// ops.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "autograd/engine.h"
#include "autograd/grad_mode.h"
#include "autograd/record.h"
#include "autograd/tensor_grad.h"
#include "autograd/view.h"
#include "base/error.h"

namespace tsr::toy {

using Values = std::vector<double>;

// A test that fails if it leaks a node.
class GraphTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override { EXPECT_EQ(live_nodes(), live_before_); }

 private:
  int64_t live_before_ = 0;
};

// Expects an Error of this code and returns its message.
std::string message_of(const std::function<void()>& call, Code code = Code::kAutograd);
// Expects an Error of this code whose message contains the fact.
void expect_error(const std::function<void()>& call, const std::string& fact,
                  Code code = Code::kAutograd);

// Makes these ops the GradientOps of the process.
void install();

Tensor make(std::initializer_list<int64_t> sizes, std::vector<double> values,
            DType dtype = DType::kFloat64);
// As make; the result requires grad.
Tensor leaf(std::initializer_list<int64_t> sizes, std::vector<double> values,
            DType dtype = DType::kFloat64);
// The elements in row-major order.
std::vector<double> values(const Tensor& tensor);
// The elements of the .grad of a tensor that has one.
std::vector<double> grad_values(const Tensor& tensor);

Tensor add(const Tensor& a, const Tensor& b);
Tensor mul(const Tensor& a, const Tensor& b);  // saves both
Tensor scale(const Tensor& a, double factor);  // saves nothing
Tensor exp(const Tensor& a);                   // saves its output
Tensor sin(const Tensor& a);                   // saves its input
Tensor sum(const Tensor& a);
Tensor expand(const Tensor& a, DimsView sizes);  // a view
Tensor sum_to(const Tensor& a, DimsView sizes);
Tensor cast(const Tensor& a, DType dtype);
Tensor clone(const Tensor& a);
Tensor zeros(DimsView sizes, DType dtype, Device device = {});
Tensor ones(DimsView sizes, DType dtype, Device device = {});

Tensor select(const Tensor& a, int64_t index);              // a view of row `index`
Tensor slice(const Tensor& a, int64_t begin, int64_t end);  // a view of rows
Tensor transpose(const Tensor& a);                          // a view, of a matrix
std::vector<Tensor> unbind(const Tensor& a);                // views of all rows

void add_inplace(const Tensor& a, const Tensor& b);
void mul_inplace(const Tensor& a, const Tensor& b);
void scale_inplace(const Tensor& a, double factor);
void exp_inplace(const Tensor& a);
void fill_inplace(const Tensor& a, double value);
void copy_inplace(const Tensor& a, const Tensor& b);

// The number of gradients that mul has computed since the start.
int64_t mul_gradients();

}  // namespace tsr::toy

# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Fits a line from R; line_r.c is the C part, of which operators need one function.
#
# Usage: Rscript line.R <line_r.so>

lib <- dyn.load(commandArgs(trailingOnly = TRUE)[1])
call <- function(operator, ...) .Call(lib$call_operator, operator, list(...))
tensor_operators <- c("+" = "add", "-" = "subtract", "*" = "multiply")
Ops.tensor <- function(e1, e2) call(tensor_operators[[.Generic]], e1, e2)
mean.tensor <- function(x, ...) call("mean", x, NULL, FALSE, NULL)

float64 <- structure(0x14002L, class = "dtype")
full <- function(value, shape = integer(0)) call("full", structure(shape, class = "sizes"), value, float64, NULL)
item <- function(x) .Call(lib$item, x)

x <- call("arange", 0, 8, 1, float64, NULL)
target <- full(3) * x + full(2)
slope <- .Call(lib$require_grad, full(0))
offset <- .Call(lib$require_grad, full(0))
optimizer <- .Call(lib$sgd, list(slope, offset), 0.02, 0.8)
for (i in 1:400) {
  .Call(lib$zero_grad, optimizer)
  error <- slope * x + offset - target
  .Call(lib$backward, mean(error * error))
  .Call(lib$step, optimizer)
}
cat(sprintf("%.4f x + %.4f\n", item(slope), item(offset)))

message <- tryCatch(call("matmul", x, full(1, 3L)), error = conditionMessage)
cat(message, "\n", sep = "")

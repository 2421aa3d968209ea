# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The network of the digits programs, its logits, and its accuracy.

# Finds the package in this repository, whatever project is active.
pushfirst!(LOAD_PATH, joinpath(@__DIR__, "..", "..", "wrappers", "julia"))

using Printf, Statistics
using Tessera

"Two convolutions, one pooling, two dense layers."
struct Net <: Tessera.Layer
    conv1::Conv2d
    norm1::BatchNorm2d
    conv2::Conv2d
    norm2::BatchNorm2d
    dropout::Dropout
    dense1::Dense
    dense2::Dense
end

Net() = Net(Conv2d(3, 1 => 32; padding=1), BatchNorm2d(32), Conv2d(3, 32 => 64; padding=1), BatchNorm2d(64),
    Dropout(0.3), Dense(64 * 4 * 4 => 128), Dense(128 => 10))

function (net::Net)(x)
    x = relu(net.norm1(net.conv1(x)))
    x = relu(net.norm2(net.conv2(x)))
    x = flatten(max_pool2d(x, 2); start=2)
    return net.dense2(net.dropout(relu(net.dense1(x))))
end

"What the network says of images, evaluated and not trained."
function logits_of(net, images)
    evaluate!(net)
    logits = no_grad(() -> net(images))
    train!(net)
    return logits
end

# Classes are data and count from 0, like the positions that argmax returns.
share_right(logits, classes) = item(mean(Float32.(argmax(logits; dims=2, keepdims=false) .== classes)))

print_accuracy(logits, classes) = @printf("test accuracy %.4f\n", share_right(logits, classes))

# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Trains ResNet-18 (He and others, 2015) on scikit-learn's scanned digits, enlarged, and writes its weights
# under torchvision's names. DATA is the file that digits.py writes.
#
# Usage: resnet18.jl DATA OUT [--epochs N] [--seed S]

# Finds the package in this repository, whatever project is active.
pushfirst!(LOAD_PATH, joinpath(@__DIR__, "..", "..", "wrappers", "julia"))

using Printf, Statistics
using Tessera

const SIZE = 32  # pixels along a side
const BATCH_SIZE = 32
const LEARNING_RATE = 0.02
const MOMENTUM = 0.9
const WEIGHT_DECAY = 5e-4

conv(kernel, channels, stride=1) = Conv2d(kernel, channels; stride, padding=kernel ÷ 2, bias=false)

"Two convolutions beside a shortcut."
struct Block <: Tessera.Layer
    conv1::Conv2d
    bn1::BatchNorm2d
    conv2::Conv2d
    bn2::BatchNorm2d
    downsample::Chain
end

function Block(inputs, outputs, stride)
    conv1, bn1 = conv(3, inputs => outputs, stride), BatchNorm2d(outputs)
    conv2, bn2 = conv(3, outputs => outputs), BatchNorm2d(outputs)
    same = stride == 1 && inputs == outputs
    downsample = same ? Chain() : Chain(conv(1, inputs => outputs, stride), BatchNorm2d(outputs))
    return Block(conv1, bn1, conv2, bn2, downsample)
end

function (block::Block)(x)
    y = block.bn2(block.conv2(relu(block.bn1(block.conv1(x)))))
    return relu(y + block.downsample(x))  # empty, it is the identity
end

stage(inputs, outputs, stride) = Chain(Block(inputs, outputs, stride), Block(outputs, outputs, 1))

struct ResNet18 <: Tessera.Layer
    conv1::Conv2d
    bn1::BatchNorm2d
    layer1::Chain
    layer2::Chain
    layer3::Chain
    layer4::Chain
    fc::Dense
end

ResNet18(channels, classes) = ResNet18(conv(7, channels => 64, 2), BatchNorm2d(64), stage(64, 64, 1),
    stage(64, 128, 2), stage(128, 256, 2), stage(256, 512, 2), Dense(512 => classes))

function (net::ResNet18)(x)
    x = max_pool2d(relu(net.bn1(net.conv1(x))), 3; stride=2, padding=1)
    x = net.layer4(net.layer3(net.layer2(net.layer1(x))))
    return net.fc(flatten(adaptive_avg_pool2d(x, 1); start=2))
end

function read_options(arguments)
    paths, epochs, seed = String[], 10, 0
    i = 1
    while i <= length(arguments)
        if arguments[i] in ("--epochs", "--seed") && i < length(arguments)
            number = parse(Int, arguments[i + 1])
            arguments[i] == "--epochs" ? (epochs = number) : (seed = number)
            i += 2
        else
            push!(paths, arguments[i])
            i += 1
        end
    end
    if length(paths) != 2 || epochs < 1
        println(stderr, "usage: resnet18.jl DATA OUT [--epochs N] [--seed S]")
        exit(2)
    end
    return paths[1], paths[2], epochs, seed
end

enlarged(images) = interpolate(images, (); size=(SIZE, SIZE), mode="bilinear")

# Half a cosine wave, from the full rate down to almost nothing.
rate_of(epoch, epochs) = LEARNING_RATE * 0.5 * (1 + cospi(epoch / epochs))

"The mean loss over the batches, as they were met."
function train_epoch!(net, state, loader)
    total, count = 0.0, 0
    for (images, classes) in loader
        zero_grad!(net)
        loss = cross_entropy(net(images), classes)
        backward!(loss)
        update!(state)
        total += item(loss) * length(classes)
        count += length(classes)
    end
    return total / count
end

# Classes are data and count from 0, like the positions that argmax returns.
function accuracy(net, images, classes)
    evaluate!(net)
    logits = no_grad(() -> net(images))
    return item(mean(Float64.(argmax(logits; dims=2, keepdims=false) .== classes)))
end

function main(arguments)
    path, out, epochs, seed = read_options(arguments)
    data = load_file(path)
    Tessera.seed!(seed)
    net = ResNet18(1, 10)
    state = setup(SGD(lr=LEARNING_RATE, momentum=MOMENTUM, weight_decay=WEIGHT_DECAY), net)
    loader = DataLoader((enlarged(data["train_images"]), data["train_classes"]); batch_size=BATCH_SIZE, shuffle=true,
        generator=Generator(seed))
    for epoch in 1:epochs
        Tessera.adjust!(state; lr=rate_of(epoch - 1, epochs))
        @printf(stderr, "epoch %d of %d, loss %.4f\n", epoch, epochs, train_epoch!(net, state, loader))
    end
    mkpath(out)
    save_file(joinpath(out, "resnet18.safetensors"), state_dict(net))
    @printf("test accuracy %.4f\n", accuracy(net, enlarged(data["test_images"]), data["test_classes"]))
end

main(ARGS)

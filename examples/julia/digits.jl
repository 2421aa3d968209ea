# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Trains a convolutional network on handwritten digits and writes its weights.
#
# Usage: digits.jl DATA OUT [--epochs N] [--seed S]

include("digits_model.jl")

const LEARNING_RATE = 2e-3
const WEIGHT_DECAY = 1e-3
const BATCH_SIZE = 64

function read_options(arguments)
    paths, epochs, seed = String[], 30, 0
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
        println(stderr, "usage: digits.jl DATA OUT [--epochs N] [--seed S]")
        exit(2)
    end
    return paths[1], paths[2], epochs, seed
end

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

function main(arguments)
    path, out, epochs, seed = read_options(arguments)
    data = load_file(path)
    Tessera.seed!(seed)
    net = Net()
    state = setup(AdamW(lr=LEARNING_RATE, weight_decay=WEIGHT_DECAY), net)
    loader = DataLoader((data["train_images"], data["train_classes"]); batch_size=BATCH_SIZE, shuffle=true,
        generator=Generator(seed))
    for epoch in 1:epochs
        Tessera.adjust!(state; lr=rate_of(epoch - 1, epochs))
        loss = train_epoch!(net, state, loader)
        @printf(stderr, "\repoch %d of %d, loss %.4f", epoch, epochs, loss)
    end
    println(stderr)
    mkpath(out)
    save_file(joinpath(out, "digits.safetensors"), state_dict(net))
    print_accuracy(logits_of(net, data["test_images"]), data["test_classes"])
end

main(ARGS)

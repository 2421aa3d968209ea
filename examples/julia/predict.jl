# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# Predicts the classes of test images with a model that any language's digits program trained. Writes
# the logits (safetensors) and prints the accuracy.
#
# Usage: predict.jl DATA MODEL RESULT

include("digits_model.jl")

function main(arguments)
    if length(arguments) != 3
        println(stderr, "usage: predict.jl DATA MODEL RESULT")
        exit(2)
    end
    data = load_file(arguments[1])
    net = load_state_dict!(Net(), load_file(arguments[2]))
    logits = logits_of(net, data["test_images"])
    save_file(arguments[3], Dict("logits" => logits))
    print_accuracy(logits, data["test_classes"])
end

main(ARGS)

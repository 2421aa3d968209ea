# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
# The package: its exports and the order of its files.
"""
Tensors with automatic differentiation, on libtessera.

Sizes and values are the same as in an `Array` of the same tensor. Axes and positions given as Julia
numbers count from 1; numbers inside a tensor, such as the result of `argmax` or the classes that
`cross_entropy` takes, are data and count from 0 as in every other language.
"""
module Tessera

import LinearAlgebra, Random, Statistics
if isdefined(Base, :stack)
    import Base: stack
end

export Tensor, BFloat16, Device, CPU, CUDA, Generator, Node, TesseraError, OutOfMemory
export share, item, free!, scope, device, on, allowscalar, isfreed
export backward!, grad, grad!, requires_grad, requires_grad!, retain_grad!, zero_grad!, is_leaf
export taped, no_grad, enable_grad, inference_mode, hook!, accumulate_hook!, after_backward!, remove!
export checkpoint, save_on, save_to_disk, save_copies, save_with, save_with!, without_saved_hooks
export deterministic!, deterministic_mode
export prehook!, multi_hook!, gradient_edge, GradientEdge, increment_version!
export dual_level, make_dual, unpack_dual, jvp, vjp, jacobian, jacrev, hessian
export grad_fn, differentiable, gradcheck, save!, saved, needs_grad, mark_dirty!, mark_constant!
export graph_nodes, next_nodes, next_edges, metadata, draw_graph, detect_anomaly
export Dense, Linear, Sequential, Conv2d, BatchNorm2d, LayerNorm, Embedding, Dropout, Chain, params, named_params
export Conv1d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d, BatchNorm1d, BatchNorm3d, InstanceNorm1d, InstanceNorm2d, InstanceNorm3d
export GroupNorm, RMSNorm, LocalResponseNorm, Unflatten
export Dropout1d, Dropout2d, Dropout3d, AlphaDropout, FeatureAlphaDropout
export MaxPool1d, MaxPool2d, MaxPool3d, AvgPool1d, AvgPool2d, AvgPool3d, LPPool1d, LPPool2d, LPPool3d, MaxUnpool1d, MaxUnpool2d, MaxUnpool3d
export AdaptiveAvgPool1d, AdaptiveAvgPool2d, AdaptiveAvgPool3d, AdaptiveMaxPool1d, AdaptiveMaxPool2d, AdaptiveMaxPool3d
export RNN, LSTM, GRU, RNNCell, LSTMCell, GRUCell
export ChannelShuffle, Fold, PixelShuffle, PixelUnshuffle, Unfold, Upsample
export CTCLoss, MSELoss, L1Loss, SmoothL1Loss, HuberLoss, KLDivLoss, CrossEntropyLoss, NLLLoss, BCELoss, BCEWithLogitsLoss
export PoissonNLLLoss, GaussianNLLLoss, SoftMarginLoss, HingeEmbeddingLoss, MarginRankingLoss, CosineEmbeddingLoss
export TripletMarginWithDistanceLoss, AdaptiveLogSoftmaxWithLoss, log_prob, predict
export ZeroPad1d, ZeroPad2d, ZeroPad3d, ConstantPad1d, ConstantPad2d, ConstantPad3d, ReflectionPad1d, ReflectionPad2d
export ReflectionPad3d, ReplicationPad1d, ReplicationPad2d, ReplicationPad3d, CircularPad1d, CircularPad2d, CircularPad3d
export FractionalMaxPool2d, FractionalMaxPool3d, SyncBatchNorm, AveragedModel, LBFGS
export TripletMarginLoss, MultiMarginLoss, MultiLabelMarginLoss, MultiLabelSoftMarginLoss, CosineSimilarity
export PairwiseDistance, LeakyReLU, ELU, CELU, Hardtanh, Softplus, Softshrink, Hardshrink, PReLU
export MultiheadAttention, TransformerEncoderLayer, TransformerDecoderLayer, TransformerEncoder, TransformerDecoder
export EmbeddingBag, Bilinear
export convert!, set_data!, state_dict, load_state_dict!, train!, evaluate!, save_file, load_file
export SGD, Adam, AdamW, RMSprop, Adagrad, Adadelta, Adamax, NAdam, RAdam, LAMB, Lion, Muon, Rprop, ASGD
export StepLR, MultiStepLR, ConstantLR, LinearLR, ExponentialLR, PolynomialLR, CosineAnnealingLR
export CosineAnnealingWarmRestarts, CyclicLR, OneCycleLR, SequentialLR, Scheduler, step!
export ChainedScheduler, MultiplicativeLR, ReduceLROnPlateau, random_split, Subset, ConcatDataset
export autocast, GradScaler, scale_loss, unscale!, found_inf
export Profiler, profile, profile_range, profile_table, profile_rows, profile_text, profile_action, profile_roof, save_profile
export record_program, load_program, save_program, Program
export setup, update!, add_group!, save_state, load_state!, DataLoader, DistributedSampler, set_epoch!

include("library.jl")
include("bfloat16.jl")
include("errors.jl")
include("tensor.jl")
include("device.jl")
include("streams.jl")
include("dtypes.jl")
include("callbacks.jl")
include("arguments.jl")
include("generated/ops.jl")
include("array.jl")
include("indexing.jl")
include("broadcast.jl")
include("pointwise.jl")
include("collections.jl")
include("array_functions.jl")
include("mutation.jl")
include("show.jl")
include("autograd.jl")
include("hooks.jl")
include("cycles.jl")
include("function.jl")
include("checkpoint.jl")
include("forward_ad.jl")
include("memory.jl")
include("host_stack.jl")
include("memory_history.jl")
include("tracing.jl")
include("random.jl")
include("interop.jl")
include("share.jl")
include("io.jl")
include("graph.jl")
include("profiler.jl")
include("program.jl")
include("nn.jl")
include("optim.jl")
include("amp.jl")
include("schedules.jl")
include("averaged_model.jl")
include("lbfgs.jl")
include("sampler.jl")
include("data.jl")
include("distributed.jl")
include("collectives.jl")
include("data_parallel.jl")
include("sync_norm.jl")
include("distributions.jl")
include("copies.jl")

function __init__()
    load_library()
    FINALIZER[] = @cfunction(finalize_tensor, Cvoid, (Ptr{Cvoid},))
    init_memory()
    Base.Experimental.register_error_hint(hint, MethodError)
end

# What the text of a MethodError adds for those who know other packages.
function hint(io, error, types, options)
    if error.f isa Type && error.f <: Layer
        print(io, "\n`?$(nameof(error.f))` tells how the layer is made.")
    elseif error.f isa Layer && any(T -> T <: AbstractArray, types)
        print(io, "\nLayers take tensors: write Tensor(x).")
    elseif error.f isa Type && error.f <: Rule && !isempty(types)
        print(io, "\nOptions of a rule have names: $(nameof(error.f))(lr=0.1).")
    end
end

include("precompile.jl")

end

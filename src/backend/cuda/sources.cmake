# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# The sources of the CUDA backend, for the plugin and for tests/support/cuda_on_host. With TSR_BATCHES those of a folder
# are compiled as one, which reads CUDA's headers once, and therefore have no name in common; not those that are ALONE:
# they have, or are nearly nothing but instances of templates.

set(TSR_CUDA_DEVICE_SOURCES
    create/creation.cu
    create/fill_copy.cu
    fft/fft.cu
    index/histogram.cu
    index/index.cu
    index/nonzero.cu
    index/search.cu
    index/sort.cu
    index/sort_pairs.cu
    linalg/distance.cu
    linalg/gemm.cu
    linalg/matrices.cu
    nn/align_loss.cu
    nn/attention.cu
    nn/attention_backward.cu
    nn/class_loss.cu
    nn/gates.cu
    nn/norm.cu
    nn/pool.cu
    nn/resample.cu
    nn/softmax.cu
    nn/weighted_gather.cu
    optim/optim.cu
    random/random.cu
)
set(TSR_CUDA_DEVICE_ALONE
    pointwise/binary.cu
    pointwise/binary_integers.cu
    pointwise/ternary.cu
    pointwise/unary.cu
    pointwise/unary_others.cu
    reduce/reduce.cu
    reduce/scan.cu
)

set(TSR_CUDA_HOST_SOURCES
    backend.cpp
    cupti.cpp
    device.cpp
    fault.cpp
    graphs.cpp
    host.cpp
    ipc.cpp
    staging.cpp
    linalg/cublas.cpp
    linalg/cublas_lt.cpp
    linalg/cusolver.cpp
    linalg/factor.cpp
    linalg/linear.cpp
    nn/conv.cpp
    nn/conv_engine.cpp
    nn/conv_shape.cpp
    nn/conv_store.cpp
    nn/dnn.cpp
)

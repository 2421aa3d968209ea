// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0

// Fits a line from Go: cgo reads the headers, and pkg-config names them and the library.
//
// Usage: go run line.go, with PKG_CONFIG_PATH where the installed tessera.pc is
package main

// #cgo pkg-config: tessera
// #include <tessera/tessera.h>
import "C"

import (
	"errors"
	"fmt"
	"runtime"
)

// Tensor holds a handle, which Go's collector releases.
type Tensor struct{ handle C.tsr_tensor }

func tensor(handle C.tsr_tensor) *Tensor {
	made := &Tensor{handle}
	runtime.SetFinalizer(made, func(t *Tensor) { C.tsr_tensor_release(t.handle) })
	return made
}

// problem returns the message of the call that failed last on this thread, so callers stay on theirs.
func problem(status C.tsr_status) error {
	if status == C.TSR_OK {
		return nil
	}
	var view C.tsr_error_view
	view.struct_size = C.sizeof_tsr_error_view
	C.tsr_error_last(&view)
	return errors.New(C.GoStringN(view.message, C.int(view.message_len)))
}

func check(status C.tsr_status) {
	if err := problem(status); err != nil {
		panic(err)
	}
}

func number(value float64) *C.tsr_number {
	return &C.tsr_number{kind: C.TSR_NUMBER_REAL, real: C.double(value)}
}

func full(value float64, shape ...C.int64_t) *Tensor {
	var out C.tsr_tensor
	sizes := append(shape, 0)
	check(C.tsr_full(&sizes[0], C.int32_t(len(shape)), number(value), C.TSR_FLOAT64, C.TSR_DEVICE_CPU, 0, &out))
	return tensor(out)
}

func binary(operator func(x, y C.tsr_tensor, out *C.tsr_tensor) C.tsr_status, x, y *Tensor) (*Tensor, error) {
	var out C.tsr_tensor
	err := problem(operator(x.handle, y.handle, &out))
	runtime.KeepAlive(x)
	runtime.KeepAlive(y)
	if err != nil {
		return nil, err
	}
	return tensor(out), nil
}

func must(t *Tensor, err error) *Tensor {
	if err != nil {
		panic(err)
	}
	return t
}

func matmul(x, y *Tensor) (*Tensor, error) {
	return binary(func(x, y C.tsr_tensor, out *C.tsr_tensor) C.tsr_status { return C.tsr_matmul(x, y, out) }, x, y)
}

func (x *Tensor) add(y *Tensor) *Tensor {
	return must(binary(func(x, y C.tsr_tensor, out *C.tsr_tensor) C.tsr_status { return C.tsr_add(x, y, out) }, x, y))
}

func (x *Tensor) subtract(y *Tensor) *Tensor {
	return must(binary(func(x, y C.tsr_tensor, out *C.tsr_tensor) C.tsr_status { return C.tsr_subtract(x, y, out) }, x, y))
}

func (x *Tensor) multiply(y *Tensor) *Tensor {
	return must(binary(func(x, y C.tsr_tensor, out *C.tsr_tensor) C.tsr_status { return C.tsr_multiply(x, y, out) }, x, y))
}

func (x *Tensor) mean() *Tensor {
	var out C.tsr_tensor
	check(C.tsr_mean(x.handle, nil, -1, 0, -1, &out))
	runtime.KeepAlive(x)
	return tensor(out)
}

func (x *Tensor) item() float64 {
	var value C.tsr_number
	check(C.tsr_tensor_item(x.handle, &value))
	runtime.KeepAlive(x)
	return float64(value.real)
}

func main() {
	runtime.LockOSThread() // an error belongs to the thread of its call

	var out C.tsr_tensor
	check(C.tsr_arange(number(0), number(8), number(1), C.TSR_FLOAT64, C.TSR_DEVICE_CPU, 0, &out))
	x := tensor(out)
	target := full(3).multiply(x).add(full(2))
	slope, offset := full(0), full(0)
	parameters := []C.tsr_tensor{slope.handle, offset.handle}
	for _, parameter := range parameters {
		check(C.tsr_tensor_set_requires_grad(parameter, 1))
	}

	options := C.tsr_optimizer_options{struct_size: C.sizeof_tsr_optimizer_options}
	check(C.tsr_optimizer_defaults(C.TSR_OPTIMIZER_SGD, &options))
	options.lr, options.momentum = 0.02, 0.8
	var optimizer C.tsr_optimizer
	check(C.tsr_optimizer_new(&options, &parameters[0], 2, &optimizer))
	defer C.tsr_optimizer_release(optimizer)

	for i := 0; i < 400; i++ {
		check(C.tsr_optimizer_zero_grad(optimizer, 1))
		difference := slope.multiply(x).add(offset).subtract(target)
		loss := difference.multiply(difference).mean()
		check(C.tsr_backward(&loss.handle, 1, nil, 0, nil, 0, 0))
		check(C.tsr_optimizer_step(optimizer))
	}
	fmt.Printf("%.4f x + %.4f\n", slope.item(), offset.item())

	if _, err := matmul(x, full(1, 3)); err != nil {
		fmt.Println(err)
	}
}

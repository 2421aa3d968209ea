<?php
// SPDX-FileCopyrightText: 2026 The Tessera Authors
// SPDX-License-Identifier: Apache-2.0
//
// Fits a line from PHP, whose FFI reads the declarations of the C ABI.
//
// Usage: php -d ffi.enable=1 line.php <libtessera.so> <tessera_ffi.h>

$C = FFI::cdef(file_get_contents($argv[2]), $argv[1]);

function check(int $status): void
{
    global $C;
    if ($status === $C->TSR_OK) {
        return;
    }
    $view = $C->new('tsr_error_view');
    $view->struct_size = FFI::sizeof($view);
    $C->tsr_error_last(FFI::addr($view));
    throw new RuntimeException(FFI::string($view->message, $view->message_len));
}

/** A handle, released with the last reference to its object. */
final class Tensor
{
    public function __construct(public readonly FFI\CData $handle)
    {
    }

    public function __destruct()
    {
        global $C;
        $C->tsr_tensor_release($this->handle);
    }

    /** Tensor::matmul($x, $y) calls tsr_matmul. */
    public static function __callStatic(string $operator, array $arguments): Tensor
    {
        global $C;
        $out = $C->new('tsr_tensor');
        $given = array_map(fn ($value) => $value instanceof Tensor ? $value->handle : $value, $arguments);
        check($C->{"tsr_$operator"}(...[...$given, FFI::addr($out)]));
        return new Tensor($out);
    }

    public function item(): float
    {
        global $C;
        $value = $C->new('tsr_number');
        check($C->tsr_tensor_item($this->handle, FFI::addr($value)));
        return $value->real;
    }
}

function number(float $value): FFI\CData
{
    global $C;
    $made = $C->new('tsr_number');
    $made->kind = $C->TSR_NUMBER_REAL;
    $made->real = $value;
    return $made;
}

function full(float $value, int ...$shape): Tensor
{
    global $C;
    $sizes = $C->new('int64_t[' . max(1, count($shape)) . ']');
    foreach ($shape as $axis => $size) {
        $sizes[$axis] = $size;
    }
    return Tensor::full($sizes, count($shape), FFI::addr(number($value)), $C->TSR_FLOAT64, $C->TSR_DEVICE_CPU, 0);
}

function handles(Tensor ...$tensors): FFI\CData
{
    global $C;
    $made = $C->new('tsr_tensor[' . count($tensors) . ']');
    foreach ($tensors as $i => $tensor) {
        $made[$i] = $tensor->handle;
    }
    return $made;
}

[$start, $stop, $step] = [number(0), number(8), number(1)];
$x = Tensor::arange(FFI::addr($start), FFI::addr($stop), FFI::addr($step), $C->TSR_FLOAT64, $C->TSR_DEVICE_CPU, 0);
$target = Tensor::add(Tensor::multiply(full(3), $x), full(2));
[$slope, $offset] = [full(0), full(0)];
foreach ([$slope, $offset] as $parameter) {
    check($C->tsr_tensor_set_requires_grad($parameter->handle, 1));
}

$options = $C->new('tsr_optimizer_options');
$options->struct_size = FFI::sizeof($options);
check($C->tsr_optimizer_defaults($C->TSR_OPTIMIZER_SGD, FFI::addr($options)));
[$options->lr, $options->momentum] = [0.02, 0.8];
$optimizer = $C->new('tsr_optimizer');
check($C->tsr_optimizer_new(FFI::addr($options), handles($slope, $offset), 2, FFI::addr($optimizer)));

for ($i = 0; $i < 400; ++$i) {
    check($C->tsr_optimizer_zero_grad($optimizer, 1));
    $error = Tensor::subtract(Tensor::add(Tensor::multiply($slope, $x), $offset), $target);
    $loss = Tensor::mean(Tensor::multiply($error, $error), null, -1, 0, -1);
    check($C->tsr_backward(handles($loss), 1, null, 0, null, 0, 0));
    check($C->tsr_optimizer_step($optimizer));
}
$C->tsr_optimizer_release($optimizer);
printf("%.4f x + %.4f\n", $slope->item(), $offset->item());

try {
    Tensor::matmul($x, full(1, 3));
} catch (RuntimeException $refused) {
    echo $refused->getMessage(), "\n";
}

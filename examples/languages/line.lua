-- SPDX-FileCopyrightText: 2026 The Tessera Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- Fits a line from Lua: LuaJIT reads the declarations of the C ABI itself.
--
-- Usage: luajit line.lua <libtessera.so> <tessera_ffi.h>

local ffi = require "ffi"
ffi.cdef(assert(io.open(arg[2])):read("*a"))
local C = ffi.load(arg[1])

local function check(status)
  if status == C.TSR_OK then return end
  local view = ffi.new("tsr_error_view", {struct_size = ffi.sizeof("tsr_error_view")})
  C.tsr_error_last(view)
  error(ffi.string(view.message, view.message_len), 0)
end

-- call("matmul", x, y) calls tsr_matmul and gives its result, which Lua's collector releases.
local function call(op, ...)
  local out = ffi.new("tsr_tensor[1]")
  local values = {...}
  values[select("#", ...) + 1] = out
  check(C["tsr_" .. op](unpack(values, 1, select("#", ...) + 1)))
  return ffi.gc(out[0], C.tsr_tensor_release)
end

-- x:mean(...) for every operator, and x + y, x - y, x * y.
ffi.metatype("struct tsr_tensor_s", {
  __index = function(_, op) return function(...) return call(op, ...) end end,
  __add = function(x, y) return call("add", x, y) end,
  __sub = function(x, y) return call("subtract", x, y) end,
  __mul = function(x, y) return call("multiply", x, y) end,
})

local function number(value)
  return ffi.new("tsr_number", {kind = C.TSR_NUMBER_REAL, real = value})
end

local function full(value, size)
  local shape = ffi.new("int64_t[1]", size or 1)
  return call("full", shape, size and 1 or 0, number(value), C.TSR_FLOAT64, C.TSR_DEVICE_CPU, 0)
end

local function item(x)
  local value = ffi.new("tsr_number")
  check(C.tsr_tensor_item(x, value))
  return value.real
end

local x = call("arange", number(0), number(8), number(1), C.TSR_FLOAT64, C.TSR_DEVICE_CPU, 0)
local target = full(3) * x + full(2)
local slope, offset = full(0), full(0)
local parameters = ffi.new("tsr_tensor[2]", slope, offset)
for i = 0, 1 do check(C.tsr_tensor_set_requires_grad(parameters[i], 1)) end

local options = ffi.new("tsr_optimizer_options", {struct_size = ffi.sizeof("tsr_optimizer_options")})
check(C.tsr_optimizer_defaults(C.TSR_OPTIMIZER_SGD, options))
options.lr, options.momentum = 0.02, 0.8
local made = ffi.new("tsr_optimizer[1]")
check(C.tsr_optimizer_new(options, parameters, 2, made))
local optimizer = ffi.gc(made[0], C.tsr_optimizer_release)

for _ = 1, 400 do
  check(C.tsr_optimizer_zero_grad(optimizer, 1))
  local error = slope * x + offset - target
  local loss = (error * error):mean(nil, -1, 0, -1)
  check(C.tsr_backward(ffi.new("tsr_tensor[1]", loss), 1, nil, 0, nil, 0, 0))
  check(C.tsr_optimizer_step(optimizer))
end
print(string.format("%.4f x + %.4f", item(slope), item(offset)))

local _, message = pcall(call, "matmul", x, full(1, 3))
print(message)

# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
#
# Fits a line from Ruby: the schema in the library tells Fiddle, Ruby's own door to C, the types of every function and
# struct.
#
# Usage: ruby line.rb <libtessera.so>

require "fiddle/import"
require "json"

LIBRARY = Fiddle.dlopen(ARGV[0])
schema = ["\0" * 8, "\0" * 8] # a pointer and a length, which the library writes
Fiddle::Function.new(LIBRARY["tsr_schema_json"], [Fiddle::TYPE_VOIDP] * 2, Fiddle::TYPE_INT).call(*schema)
SCHEMA = JSON.parse(Fiddle::Pointer.new(schema[0].unpack1("q")).to_s)
CONSTANTS = SCHEMA["constants"]
BASIC = { "double" => ["double", Fiddle::TYPE_DOUBLE], "void" => ["void", Fiddle::TYPE_VOID],
          "int64_t" => ["long long", Fiddle::TYPE_LONG_LONG], "uint64_t" => ["unsigned long long", -Fiddle::TYPE_LONG_LONG],
          "uint32_t" => ["unsigned int", -Fiddle::TYPE_INT] }.freeze

def c_type(name)
  pointer = name.end_with?("*", "_fn") || SCHEMA["handles"].include?(name)
  pointer ? ["void*", Fiddle::TYPE_VOIDP] : BASIC.fetch(name, ["int", Fiddle::TYPE_INT]) # the others are enumerations
end

def struct(name, **values)
  fields = SCHEMA["structs"][name]["fields"].map { |field, type, _| "#{c_type(type)[0]} #{field}" }
  made = Module.new { extend Fiddle::Importer }.struct(fields).malloc(Fiddle::RUBY_FREE)
  values.each { |field, value| made[field.to_s] = value }
  made
end

FUNCTIONS = Hash.new do |known, name|
  row = SCHEMA["functions"].find { |function| function["name"] == name }
  types = row["params"].map { |type, _| c_type(type)[1] }
  known[name] = Fiddle::Function.new(LIBRARY[name], types, c_type(row["returns"])[1])
end

def check(name, *arguments)
  return if FUNCTIONS[name].call(*arguments).zero?

  view = struct("tsr_error_view")
  view.struct_size = SCHEMA["structs"]["tsr_error_view"]["size"]
  FUNCTIONS["tsr_error_last"].call(view)
  raise view.message.to_s
end

# A handle, which Ruby's collector releases.
class Tensor
  RELEASE = Fiddle::Function.new(LIBRARY["tsr_tensor_release"], [Fiddle::TYPE_VOIDP], Fiddle::TYPE_VOID)

  def initialize(address)
    @handle = Fiddle::Pointer.new(address, 0, RELEASE)
  end

  def to_ptr = @handle

  def self.call(operator, *arguments)
    out = "\0" * 8
    check("tsr_#{operator}", *arguments, out)
    new(out.unpack1("q"))
  end

  def +(other) = Tensor.call("add", self, other)
  def -(other) = Tensor.call("subtract", self, other)
  def *(other) = Tensor.call("multiply", self, other)
  def mean = Tensor.call("mean", self, nil, -1, 0, -1)

  def item
    number = struct("tsr_number")
    check("tsr_tensor_item", self, number)
    number.real
  end
end

def number(value) = struct("tsr_number", kind: CONSTANTS["TSR_NUMBER_REAL"], real: value)

def full(value, shape = [])
  Tensor.call("full", shape.pack("q*"), shape.size, number(value), CONSTANTS["TSR_FLOAT64"], CONSTANTS["TSR_DEVICE_CPU"], 0)
end

def list(*tensors) = tensors.map { |tensor| tensor.to_ptr.to_i }.pack("q*")

x = Tensor.call("arange", number(0), number(8), number(1), CONSTANTS["TSR_FLOAT64"], CONSTANTS["TSR_DEVICE_CPU"], 0)
target = full(3) * x + full(2)
slope = full(0)
offset = full(0)
[slope, offset].each { |parameter| check("tsr_tensor_set_requires_grad", parameter, 1) }

options = struct("tsr_optimizer_options")
options.struct_size = SCHEMA["structs"]["tsr_optimizer_options"]["size"]
check("tsr_optimizer_defaults", CONSTANTS["TSR_OPTIMIZER_SGD"], options)
options.lr = 0.02
options.momentum = 0.8
made = "\0" * 8
check("tsr_optimizer_new", options, list(slope, offset), 2, made)
optimizer = Fiddle::Pointer.new(made.unpack1("q"), 0, FUNCTIONS["tsr_optimizer_release"])

400.times do
  check("tsr_optimizer_zero_grad", optimizer, 1)
  error = slope * x + offset - target
  check("tsr_backward", list((error * error).mean), 1, nil, 0, nil, 0, 0)
  check("tsr_optimizer_step", optimizer)
end
puts format("%.4f x + %.4f", slope.item, offset.item)

begin
  Tensor.call("matmul", x, full(1, [3]))
rescue RuntimeError => e
  puts e.message
end

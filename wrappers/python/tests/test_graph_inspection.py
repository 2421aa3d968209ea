# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""What nodes of the graph show, walks, and drawings: row A21."""

import gc
import pathlib
import weakref
import xml.etree.ElementTree as ElementTree

import pytest

import tessera as ts
import tessera.nn.functional as F
from tessera import autograd
from tessera.autograd import graph
from test_ops import GRAD, gradient_calls

ROOT = pathlib.Path(__file__).parents[3]


def leaf(*shape):
    return ts.ones(shape, requires_grad=True)


def network():
    """The network of tests/conformance/graph_nodes.txt, the same in every language."""
    x, weight, bias, values = leaf(4, 3), leaf(5, 3), leaf(5), leaf(5, 2)
    hidden = F.relu(F.linear(x, weight, bias))
    mixed = ts.matmul(F.softmax(hidden * hidden, 1), values)
    return (ts.exp(mixed) + mixed * ts.ones((4, 2))).mean()


def line(number, node, numbers):
    variable = node.variable
    shape = "" if variable is None else " " + str(list(variable.shape))
    edges = [" -" if found is None else f" {numbers[found]}.{output}" for found, output in node.next_functions]
    return f"{number} {node.name()}{shape}{''.join(edges)}"


class TestNodes:
    def test_A21_a_walk_gives_the_nodes_and_edges_of_every_language(self):
        nodes = list(graph.nodes(network()))
        numbers = {node: number for number, node in enumerate(nodes)}
        wanted = (ROOT / "tests/conformance/graph_nodes.txt").read_text().splitlines()
        assert [line(number, node, numbers) for number, node in enumerate(nodes)] == wanted

    def test_A21_a_walk_may_begin_at_a_node_and_a_leaf_has_none(self):
        x = leaf(2)
        y = ts.exp(x)
        assert [node.name() for node in graph.nodes(y.grad_fn)] == ["ExpBackward", "AccumulateGrad"]
        assert list(graph.nodes(x)) == []

    def test_A21_names_show_in_repr_and_sequence_numbers_grow(self):
        x = leaf(2)
        first, second = ts.exp(x), x * x
        assert repr(first.grad_fn).startswith("<ExpBackward")
        assert "grad_fn=<MultiplyBackward>" in repr(second)
        assert first.grad_fn.sequence_nr < second.grad_fn.sequence_nr

    def test_A21_outputs_tell_shape_dtype_and_device(self):
        y = ts.exp(ts.ones((2, 3), dtype=ts.float64, requires_grad=True))
        assert y.grad_fn.outputs == (((2, 3), ts.float64, ts.device("cpu")),)
        values, positions = ts.sort_with_indices(leaf(4))
        assert values.grad_fn.outputs[0].shape == (4,)
        total = y.sum().grad_fn.outputs[0]
        assert total.shape == () and total.dtype is ts.float64


class TestSaved:
    def test_A21_saved_values_have_the_names_of_arguments(self):
        x, y = leaf(2, 3), leaf(2, 3)
        node = (x * y).grad_fn
        assert node.saved_names == ("input", "other")
        assert node._saved_input is not None and node._saved_other.shape == (2, 3)
        assert node._saved_self.tolist() == node._saved_input.tolist()
        assert {"_saved_input", "_saved_other"} <= set(dir(node))
        assert ts.exp(x).grad_fn._saved_result.shape == (2, 3)

    @pytest.mark.parametrize("row", GRAD)
    def test_A21_every_op_names_what_it_saves(self, row):
        for function, leaves in gradient_calls(row)[:4]:
            found = function(*leaves)
            for result in found if isinstance(found, (tuple, list)) else [found]:
                for node in graph.nodes(result) if result.requires_grad else []:
                    names = [name for name, saved in zip(node.saved_names, node.saved_tensors) if saved is not None]
                    assert all(name and not name.startswith("saved") for name in names), (node, names)
                    assert names == ["indices"] * len(names) or len(set(names)) == len(names), (node, names)

    def test_A21_an_unneeded_tensor_is_none_and_a_list_is_a_tuple(self):
        x = leaf(3, 4)
        assert F.linear(ts.ones((2, 4)), x).grad_fn._saved_weight is None
        picked = x[ts.tensor([0, 2]), ts.tensor([1, 1])]
        assert [t.tolist() for t in picked.grad_fn._saved_indices] == [[0, 2], [1, 1]]

    def test_A21_an_unknown_name_says_what_there_is(self):
        node = ts.exp(leaf(2)).grad_fn
        with pytest.raises(AttributeError, match="ExpBackward saved no 'weight', only result"):
            _ = node._saved_weight
        with pytest.raises(AttributeError, match="no attribute 'weight'"):
            _ = node.weight

    def test_A21_saved_values_are_gone_after_a_backward(self):
        y = ts.exp(leaf(2))
        node = y.grad_fn
        y.sum().backward()
        for read in (lambda: node._saved_result, lambda: node.saved_tensors, lambda: node.saved_names):
            with pytest.raises(ts.AutogradError, match="they have already been freed.*retain_graph"):
                read()
        assert "_saved_result" not in dir(node)

    def test_A21_the_values_of_a_custom_function_are_named_by_what_they_are(self):
        class Twice(autograd.Function):
            @staticmethod
            def forward(ctx, x):
                y = x * 2
                ctx.save_for_backward(x, y)
                return y

            @staticmethod
            def backward(ctx, grad):
                return grad * 2

        y = Twice.apply(leaf(2))
        assert y.grad_fn.saved_names == ("input", "result")


class Box:
    pass


class TestMetadata:
    def test_A21_metadata_is_a_dictionary_of_the_node(self):
        y = ts.exp(leaf(2))
        y.grad_fn.metadata["layer"] = "first"
        y.grad_fn.metadata["list"] = [1, 2]
        y.grad_fn.metadata["list"].append(3)
        assert dict(y.grad_fn.metadata) == {"layer": "first", "list": [1, 2, 3]}
        del y.grad_fn.metadata["layer"]
        assert "layer" not in y.grad_fn.metadata and len(y.grad_fn.metadata) == 1
        for use in (lambda d: d["no"], lambda d: d.__delitem__("no")):
            with pytest.raises(KeyError):
                use(y.grad_fn.metadata)

    def test_A21_objects_live_as_long_as_the_node_or_until_replaced(self):
        y, box, other = ts.exp(leaf(2)), Box(), Box()
        seen, second = weakref.ref(box), weakref.ref(other)
        y.grad_fn.metadata["box"] = box
        del box
        gc.collect()
        assert seen() is not None
        y.grad_fn.metadata["box"] = other
        assert seen() is None
        del other, y
        gc.collect()
        assert second() is None


class TestDrawing:
    def test_A21_an_svg_is_well_formed_and_names_everything(self, tmp_path):
        model = ts.nn.Sequential(ts.nn.Linear(3, 5), ts.nn.ReLU(), ts.nn.Linear(5, 2))
        loss = model(ts.ones((4, 3))).sum()
        drawing = graph.draw(loss, dict(model.named_parameters()), show_saved=True)
        tree = ElementTree.fromstring(drawing)
        words = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
        assert {"0.weight", "2.bias", "LinearBackward", "[4, 5]", "saves weight [2, 5]", "output"} <= set(words)
        assert drawing._repr_svg_() == drawing
        drawing.save(tmp_path / "graph.svg")
        assert (tmp_path / "graph.svg").read_text() == drawing

    def test_A21_dot_lists_nodes_and_links(self):
        x = leaf(2)
        drawing = graph.draw([ts.exp(x), ts.sin(x)], {"x": x}, format="dot")
        assert drawing.startswith("digraph") and drawing.count(" -> ") == 4 and drawing.count('"x\\n[2]"') == 1
        assert drawing._repr_svg_() is None

    def test_A21_wrong_arguments_are_typed_errors(self):
        with pytest.raises(ValueError, match="format.*'png'"):
            graph.draw(ts.exp(leaf(2)), format="png")
        with pytest.raises(ts.AutogradError, match="require grad"):
            graph.draw(ts.ones(2))

    def test_A21_a_chain_of_many_nodes_is_drawn(self):
        x = y = leaf(1)
        for _ in range(3000):
            y = y * x
        drawing = graph.draw(y, {"x": x})
        assert drawing.count("MultiplyBackward") == 3000
        assert 2990 < drawing.count(">x</text>") <= 3010  # a copy of the leaf for each far use

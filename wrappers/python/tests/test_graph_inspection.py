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


class TestRun:
    def test_A21_a_node_gives_the_gradients_of_its_inputs_as_often_as_asked(self):
        x, y = leaf(2), leaf(2)
        node = (x * y * 3).grad_fn.next_functions[0][0]
        for _ in range(2):
            first, second = node(ts.tensor([2.0, 5.0]))
            assert first.tolist() == second.tolist() == [2.0, 5.0]
        assert node(None) == (None, None)
        assert (x * ts.ones(2)).grad_fn(ts.ones(2))[1] is None  # not needed

    def test_A21_of_one_input_the_result_is_its_gradient_and_is_recorded(self):
        x = ts.tensor([2.0, 3.0], requires_grad=True)
        node = ts.square(x).grad_fn
        assert node(ts.ones(2)).tolist() == [4.0, 6.0] and node(ts.ones(2)).requires_grad
        with ts.no_grad():
            assert not node(ts.ones(2)).requires_grad

    def test_A21_the_node_of_a_leaf_adds_to_its_gradient(self):
        x = leaf(2)
        add = ts.exp(x).grad_fn.next_functions[0][0]
        assert add(ts.tensor([1.0, 2.0])) == () and add(ts.tensor([1.0, 2.0])) == ()
        assert x.grad.tolist() == [2.0, 4.0]

    def test_A21_the_function_of_a_program_runs_and_its_exception_comes_out(self):
        class Refuses(autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 1

            @staticmethod
            def backward(ctx, grad):
                raise KeyError("no gradient")

        with pytest.raises(KeyError, match="no gradient"):
            Refuses.apply(leaf(2)).grad_fn(ts.ones(2))

    def test_A21_what_does_not_fit_or_is_gone_is_an_error(self):
        y = ts.exp(leaf(2))
        with pytest.raises(ValueError, match="expected one gradient for each of the 1 outputs of ExpBackward, got 2"):
            y.grad_fn(ts.ones(2), ts.ones(2))
        with pytest.raises(ts.ShapeError, match=r"\[2\] of its output, got \[3\]"):
            y.grad_fn(ts.ones(3))
        with pytest.raises(TypeError, match="float"):
            y.grad_fn(1.0)
        y.sum().backward()
        with pytest.raises(ts.AutogradError, match="freed"):
            y.grad_fn(ts.ones(2))


class TestSavedHooks:
    def test_A15_one_saved_tensor_goes_through_hooks_of_its_own(self):
        x, y = ts.tensor([2.0], requires_grad=True), ts.tensor([5.0], requires_grad=True)
        product = x * y
        calls = []
        saved = product.grad_fn._raw_saved_self
        saved.register_hooks(lambda t: calls.append("pack") or t.tolist(), lambda v: calls.append("unpack") or ts.tensor(v) * 10)
        assert calls == ["pack"]
        product.sum().backward()
        assert (x.grad.item(), y.grad.item(), calls) == (5.0, 20.0, ["pack", "unpack"])

    def test_A15_hooks_are_set_once_and_a_failure_changes_nothing(self):
        x = leaf(2)
        y = ts.exp(x)
        saved = y.grad_fn._raw_saved_result

        def fail(_):
            raise OSError("disk full")

        with pytest.raises(OSError, match="disk full"):
            saved.register_hooks(fail, lambda v: v)
        with pytest.raises(TypeError, match="two callables"):
            saved.register_hooks(None, fail)
        saved.register_hooks(lambda t: t, lambda t: t)
        with pytest.raises(ts.AutogradError, match="without hooks"):
            saved.register_hooks(lambda t: t, lambda t: t)
        y.sum().backward()
        assert x.grad.tolist() == pytest.approx(y.tolist())

    def test_A15_what_is_not_needed_has_no_hooks(self):
        node = F.linear(ts.ones((2, 4)), leaf(3, 4)).grad_fn
        with pytest.raises(ts.AutogradError, match="does not need"):
            node._raw_saved_weight.register_hooks(lambda t: t, lambda t: t)

    def test_A15_hooks_go_with_the_node(self):
        y, box = ts.exp(leaf(2)), Box()
        seen = weakref.ref(box)
        y.grad_fn._raw_saved_result.register_hooks(lambda t, box=box: (box, y, t), lambda packed: packed[2])  # a cycle
        del box, y
        gc.collect()
        assert seen() is None


class TestBase:
    def test_I6_a_view_names_the_tensor_that_has_the_memory(self):
        x = ts.arange(6, dtype=ts.float32)
        view = ts.reshape(x, (2, 3))[0]
        assert view.base.shape == (6,) and view.base._data_address == x._data_address
        assert x.base is None and view.detach().base is None and (x + 1).base is None
        view.base[0] = 9
        assert view[0].item() == 9


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

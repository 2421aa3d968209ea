# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Anomaly mode: errors of a backward name the node, its nan, and where its forward was called."""

import threading

import pytest

import tessera as ts
from tessera import autograd


def leaf(*values):
    return ts.tensor(list(values), dtype=ts.float64, requires_grad=True)


def the_line_to_blame(x):
    return ts.sqrt(x)


class Failing(autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, grad):
        raise ZeroDivisionError("from the backward")


class TestNan:
    def test_A21_the_node_that_makes_nan_is_named_with_the_stack_of_its_forward(self):
        x = leaf(0.0, 4.0)
        with autograd.detect_anomaly():
            y = (the_line_to_blame(x) * ts.tensor([0.0, 1.0], dtype=ts.float64)).sum()
            with pytest.raises(ts.AutogradError) as caught:
                y.backward()
        text = str(caught.value)
        assert "Function 'SqrtBackward' returned nan values in its 0th output" in text
        assert "The forward of SqrtBackward was called here:" in text
        assert "in the_line_to_blame" in text and "return ts.sqrt(x)" in text

    def test_A21_nan_that_came_in_is_not_blamed_on_the_node(self):
        x = leaf(1.0)
        with autograd.detect_anomaly():
            y = (x * 2).sum()
            y.backward(ts.tensor(float("nan"), dtype=ts.float64))
        assert x.grad.isnan().all()

    def test_A21_check_nan_may_be_left_out(self):
        x = leaf(0.0)
        with autograd.detect_anomaly(check_nan=False):
            assert not autograd.is_anomaly_check_nan_enabled()
            (ts.sqrt(x) * 0).sum().backward()
        assert x.grad.isnan().all()

    def test_A21_a_forward_outside_the_mode_is_said_to_be(self):
        y = (ts.sqrt(leaf(0.0)) * 0).sum()
        with autograd.detect_anomaly(), pytest.raises(ts.AutogradError, match="was not recorded in anomaly mode"):
            y.backward()

    def test_A21_a_node_made_in_a_backward_tells_its_parent_too(self):
        x = leaf(0.0)
        with autograd.detect_anomaly():
            (slope,) = autograd.grad(the_line_to_blame(x + 1).sum(), [x], create_graph=True)
            parents = [node.metadata["parent"] for node in autograd.graph.nodes(slope) if "parent" in node.metadata]
        assert parents and any("The forward of SqrtBackward was called here:" in text for text in parents)
        assert any("in the_line_to_blame" in text for text in parents)


class TestErrors:
    def test_A21_an_exception_of_a_function_keeps_its_type_and_gets_a_note(self):
        x = leaf(1.0)
        with autograd.detect_anomaly():
            y = Failing.apply(x).sum()
            with pytest.raises(ZeroDivisionError, match="from the backward") as caught:
                y.backward()
        (note,) = caught.value.__notes__
        assert note.startswith("The forward of ") and "Failing.apply(x)" in note

    def test_A21_a_freed_graph_names_the_forward(self):
        x = leaf(1.0)
        with autograd.detect_anomaly():
            y = the_line_to_blame(x).sum()
            y.backward()
            with pytest.raises(ts.AutogradError, match="already been freed(.|\n)*in the_line_to_blame"):
                y.backward()


class TestMode:
    def test_A21_nodes_keep_the_stack_only_inside_the_block(self):
        x = leaf(1.0)
        with autograd.detect_anomaly():
            inside = the_line_to_blame(x)
        outside = the_line_to_blame(x)
        assert "in the_line_to_blame" in inside.grad_fn.metadata["stack"]
        assert "stack" not in outside.grad_fn.metadata

    def test_A21_blocks_nest_and_are_left_by_exceptions(self):
        assert not autograd.is_anomaly_enabled()
        mode = autograd.detect_anomaly()
        with pytest.raises(KeyError), mode, autograd.set_detect_anomaly(False):
            assert not autograd.is_anomaly_enabled()
            raise KeyError
        assert not autograd.is_anomaly_enabled()
        with mode, autograd.detect_anomaly(check_nan=False), mode:
            assert autograd.is_anomaly_check_nan_enabled()
        assert not autograd.is_anomaly_enabled()

    def test_A21_the_function_sets_the_mode_at_once(self):
        before = autograd.set_detect_anomaly(True)
        try:
            assert autograd.is_anomaly_enabled()
        finally:
            before.__exit__(None, None, None)
        assert not autograd.is_anomaly_enabled()

    def test_A21_the_mode_belongs_to_the_thread(self):
        seen = []
        with autograd.detect_anomaly():
            thread = threading.Thread(target=lambda: seen.append(autograd.is_anomaly_enabled()))
            thread.start()
            thread.join()
        assert seen == [False]

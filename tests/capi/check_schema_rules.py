#!/usr/bin/python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The generator refuses an invalid schema, and its error names the file and the row."""

import copy
import pathlib
import re
import sys
import tempfile
import unittest

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "capi"))

from generator import schema  # noqa: E402
from generator.rust import ops as rust_ops  # noqa: E402
from generator.rust.words import in_rust  # noqa: E402
from generator.schema import model  # noqa: E402
from generator.schema.reader import read_families  # noqa: E402
from generator.schema.types import SchemaError  # noqa: E402

GOOD = {
    "title": "Test",
    "header": "ops.h",
    "ids": [9000, 9009],
    "ops": [
        {
            "name": "twice",
            "id": 9000,
            "args": [
                {"name": "input", "type": "tensor"},
                {"name": "axes", "type": "int64[]?"},
            ],
            "forms": ["functional", "out", "inplace"],
            "python": "twice",
            "doc": "Each element doubled.",
            "cases": [{"args": {"input": {"f32": [1, 2]}}, "out": {"f32": [2, 4]}}],
        }
    ],
}


def load(*trees, autocast=None):
    """The schema made of the real types file and `trees`."""
    with tempfile.TemporaryDirectory() as folder:
        for name in ("types.yaml", "memory.yaml"):
            text = (ROOT / "capi" / "schema" / name).read_text(encoding="utf-8")
            (pathlib.Path(folder) / name).write_text(text, encoding="utf-8")
        for i, tree in enumerate(trees):
            (pathlib.Path(folder) / f"test{i}.yaml").write_text(yaml.safe_dump(tree))
        if autocast is not None:
            (pathlib.Path(folder) / "autocast.yaml").write_text(yaml.safe_dump(autocast))
        return schema.load(pathlib.Path(folder))


class SchemaRules(unittest.TestCase):
    def refuse(self, change, *words):
        tree = copy.deepcopy(GOOD)
        change(tree)
        with self.assertRaises(SchemaError) as caught:
            load(tree)
        for word in ("test0.yaml", *words) if words[:1] != ("whole",) else words[1:]:
            self.assertIn(word, str(caught.exception))

    def test_good_file_gives_every_form(self):
        names = [f.name for op in load(GOOD).ops for f in op.functions]
        self.assertEqual(names, ["tsr_twice", "tsr_twice_out", "tsr_twice_inplace"])

    def test_autocast_lists_hold_operators_that_can_be_cast(self):
        empty = {kind: [] for kind in model.AUTOCAST}
        both = load(GOOD, autocast={**empty, "lower": ["twice"], "cpu": {**empty, "float32": ["twice"]}})
        self.assertEqual((both.autocast, both.autocast_cpu), ({"twice": "lower"}, {"twice": "float32"}))
        view = copy.deepcopy(GOOD)
        view["ops"][0]["effects"] = {"alias": "input"}
        for tree, lists, word in (
            (GOOD, {"lower": ["thrice"]}, "thrice"),
            (GOOD, {"lower": ["twice"], "float32": ["twice"]}, "twice in"),
            (GOOD, {"refuse": ["twice"]}, "twice_with_logits"),
            (GOOD, {"higher": []}, "higher"),
            (GOOD, {"cpu": {**empty, "lower": ["thrice"]}}, "thrice"),
            (view, {"promote": ["twice"]}, "view"),
        ):
            with self.assertRaises(SchemaError) as caught:
                load(tree, autocast={**empty, **lists})
            self.assertIn("autocast", str(caught.exception))
            self.assertIn(word, str(caught.exception))

    def test_list_becomes_pointer_and_count(self):
        function = load(GOOD).ops[0].functions[0]
        self.assertEqual(
            function.declaration,
            "tsr_status tsr_twice(tsr_tensor input, const int64_t* axes, int32_t n_axes, "
            "tsr_tensor* out)",
        )

    def test_numbers_give_one_function_for_each_pattern_of_operands(self):
        tree = copy.deepcopy(GOOD)
        op = tree["ops"][0]
        op["args"] = [{"name": n, "type": "tensor"} for n in ("input", "low", "high")]
        op.update(forms=["functional"], scalar=["low", "high", ["low", "high"]])
        op["cases"] = [{"args": {"input": {"f32": [1]}, "low": 1, "high": 2.0}, "out": {"f32": [1]}}]
        functions = load(tree).ops[0].functions
        names = ["tsr_twice", "tsr_twice_scalar", "tsr_twice_scalar_left", "tsr_twice_scalars"]
        self.assertEqual([f.name for f in functions], names)
        self.assertEqual(
            functions[3].declaration,
            "tsr_status tsr_twice_scalars(tsr_tensor input, const tsr_number* low, "
            "const tsr_number* high, tsr_tensor* out)",
        )

    def test_kinds_of_numbers_are_known_and_restrict_some(self):
        self.refuse(lambda t: t["ops"][0].update(scalar_kinds=["i64"]), "op twice", "has none")
        change = {"scalar": ["input"], "scalar_kinds": ["i16"]}
        self.refuse(lambda t: t["ops"][0].update(change), "op twice", "i16")

    def test_unknown_keys_are_errors(self):
        self.refuse(lambda t: t.update(colour=1), "unknown key colour")
        self.refuse(lambda t: t["ops"][0].update(colour=1), "op twice", "unknown key colour")
        self.refuse(lambda t: t["ops"][0]["args"][0].update(colour=1), "unknown key colour")
        self.refuse(lambda t: t["ops"][0]["cases"][0].update(colour=1), "unknown key colour")

    def test_missing_keys_are_errors(self):
        for key in ("id", "args", "forms", "python", "doc", "cases"):
            self.refuse(lambda t, key=key: t["ops"][0].pop(key), "missing", key)

    def test_versions_are_texts(self):
        for since in (0.1, "0", "0.2.1"):
            self.refuse(lambda t, since=since: t["ops"][0].update(since=since), "op twice", repr(since))
        struct = {"name": "pair", "doc": "Two.", "fields": [{"uint32_t struct_size": {"doc": "", "since": 0.2}}]}
        self.refuse(lambda t: t.update(structs=[struct]), "struct pair", "0.2")

    def test_data_of_a_literal_fit_its_shape(self):
        literal = {"dtype": "f32", "shape": [3], "data": [1, 2]}
        self.refuse(lambda t: t["ops"][0]["cases"][0].update(out=literal), "op twice", "2 elements", "[3]")
        ragged = {"f32": [[1, 2], [3]]}
        self.refuse(lambda t: t["ops"][0]["cases"][0].update(out=ragged), "op twice", "ragged")

    def test_gradients_of_a_case_belong_to_lists_of_it(self):
        for key in ("grad", "after_grad"):
            given = {key: {"input": [{"f32": [1, 2]}]}}
            self.refuse(lambda t, given=given: t["ops"][0]["cases"][0].update(given), "op twice", "input")

    def test_ids_stay_in_range_and_are_never_reused(self):
        self.refuse(lambda t: t["ops"][0].update(id=8999), "outside 9000..9009")
        self.refuse(lambda t: t.update(retired=[9000]), "taken or retired")
        self.refuse(lambda t: t["ops"].append(t["ops"][0]), "taken or retired")

    def test_id_ranges_of_files_do_not_overlap(self):
        other = copy.deepcopy(GOOD)
        other["ops"][0].update(name="thrice", id=9001)
        with self.assertRaisesRegex(SchemaError, "overlaps"):
            load(GOOD, other)

    def test_names_are_no_keywords_of_a_host_language(self):
        for name in ("self", "lambda", "type", "end", "ref", "Input", "in"):
            self.refuse(lambda t, name=name: t["ops"][0]["args"][0].update(name=name), name)

    def test_types_are_those_of_the_grammar(self):
        for kind in ("float", "tensor[][]", "int64??", "enum", "str[]", "size_t"):
            self.refuse(lambda t, kind=kind: t["ops"][0]["args"][1].update(type=kind), kind)
        change = {"type": "uint64", "default": 0}
        self.refuse(lambda t: t["ops"][0]["args"][1].update(change), "cannot be an argument")

    def test_undeclared_enumerations_are_errors(self):
        change = {"type": "enum.no_such", "default": 0}
        self.refuse(lambda t: t["ops"][0]["args"][1].update(change), "whole", "enum.no_such")

    def test_cases_give_every_required_argument_and_every_result(self):
        self.refuse(lambda t: t["ops"][0]["cases"][0].update(args={}), "input has no value")
        self.refuse(lambda t: t["ops"][0]["cases"][0].pop("out"), "expected results")
        self.refuse(lambda t: t["ops"][0]["cases"][0].update(out={"f32": [[1], [1, 2]]}), "ragged")

    def test_kernels_have_ids_of_their_own_and_one_functor_each(self):
        tree = copy.deepcopy(GOOD)
        tree["ops"][0]["kernel"] = "unary"
        tree["kernels"] = [{"name": "twice_grad", "id": 9001, "family": "binary", "doc": "2 g"}]
        self.assertEqual([(k.functor, k.id) for k in load(tree).kernels("unary")], [("Twice", 9000)])
        self.assertEqual([k.functor for k in load(tree).kernels("binary")], ["TwiceGrad"])
        self.refuse(lambda t: t["ops"][0].update(kernel="unitary"), "op twice", "'unitary'")
        row = {"name": "other", "id": 9000, "family": "unary", "doc": ""}
        self.refuse(lambda t: t.update(kernels=[row]), "taken or retired")
        tree["kernels"] = [{"name": "twice", "id": 9002, "family": "unary", "doc": ""}]
        with self.assertRaisesRegex(SchemaError, "functor Twice"):
            load(tree)

    def test_families_are_known_to_the_backends_that_they_name(self):
        row = {"name": "scan", "plan": "ScanPlan", "header": "reduce.h", "doc": "running sums"}
        (family,) = read_families({"families": [row]})
        self.assertEqual((family.backends, family.op), (model.BACKENDS, None))
        wrong = ({**row, "backends": ["tpu"]}, {**row, "table": "scan"}, {k: row[k] for k in ("name", "plan", "doc")})
        for bad, word in zip(wrong, ("tpu", "table", "header")):
            with self.assertRaises(SchemaError) as caught:
                read_families({"families": [bad]})
            self.assertIn(word, str(caught.exception))
        with self.assertRaises(SchemaError):
            read_families({"families": [row, row]})

    def test_every_function_has_a_number_that_begins_with_its_row(self):
        functions = {f.name: f.id for f in load(GOOD).c_functions if f.op is not None}
        self.assertEqual(functions["tsr_twice"], 9000)
        self.assertEqual({i & 0xFFFF for i in functions.values()}, {9000})
        self.assertEqual(len(set(functions.values())), 3)

    def test_structs_spell_their_padding(self):
        fields = [{"uint32_t struct_size": ""}, {"int64_t value": ""}]
        row = {"name": "gap", "doc": "A struct with a hole.", "fields": fields}
        self.refuse(lambda t: t.update(structs=[row]), "explicit padding")


class RustDocumentation(unittest.TestCase):
    def test_it_speaks_of_rust(self):
        complete = schema.load(ROOT / "capi" / "schema")
        statuses = {c.name.removeprefix("TSR_") for c in complete.status.constants}
        for name, text in rust_ops.outputs(complete).items():
            for line in text.splitlines():
                if line.strip().startswith("///"):
                    plain = re.sub(r"\[`[^`]*`\](\(crate::[\w:]+\))?", "", line)
                    self.assertNotIn("tsr_", plain, name)
                    self.assertFalse(statuses & set(re.findall(r"\w+", plain)), f"{name}: {line}")
        text = in_rust(complete)("VALUE where `VALUE` is as of l1_loss(x), l1_loss or clip_norm", set())
        self.assertEqual(
            text,
            "[`ErrorKind::Value`](crate::ErrorKind::Value) where `VALUE` is as of l1_loss(x), [`Tensor::l1_loss`] or "
            "[`clip_norm`](crate::ops::clip_norm)",
        )


if __name__ == "__main__":
    unittest.main()

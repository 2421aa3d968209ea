#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Breaks the lines that implement some rows of docs/features.md, one at a time, and shows that the rows' tests fail.

Usage: break_rows.py [--build build/release] [row...]

Not a part of the test run: each row costs a build. The sources are restored, also after an error, but not rebuilt; build
before the next test. Exit status 1 if a test still passes, or if a line is no longer there.
"""

import argparse
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Break:
    row: str
    file: str  # under src/autograd
    line: str  # stands there exactly once
    instead: str
    test: str  # GoogleTest filter
    program: str = "autograd"


BREAKS = (
    Break("A1", "tensor_grad.cpp", "is_differentiable(tensor.dtype())", "true", "*.A1_only*"),
    Break("A4", "engine.cpp", "root.numel() == 1", "root.numel() >= 1", "*.A4_implicit*"),
    Break("A8", "hooks.cpp", "    grad = std::move(replacement);\n", "", "*.A8_tensor_hooks_replace*"),
    Break("A9", "graph_task.cpp", "if (post) run_post_hooks(node, wanted, before);", "", "*.A9_*"),
    Break("A18", "record.cpp", "outer_level(level) != nullptr", "false", "*.A18_nested_levels_give*"),
    Break("E4", "graph_task.cpp", "add_to(slot.gradient(edge.output), root_.grads[i], may_add_into);",
          "slot.gradient(edge.output) = root_.grads[i];", "*.E4_*"),
    Break("E5", "accumulate_grad.cpp", "owns_alone(grad) &&", "true &&", "*.E5_callers*"),
    Break("E18", "graph_task.cpp", "for (size_t i = 0; i < callbacks_.size(); ++i) std",
          "for (size_t i = 0, n = callbacks_.size(); i < n; ++i) std", "*.E18_final*"),
    Break("E20", "validate.cpp", "grad = gradient_ops().sum_to(grad, meta.sizes);", "{}", "*.E20_broadcast*"),
    Break("I1", "view.cpp", "    check_no_tangent(target);\n  target.bump_version();\n",
          "    check_no_tangent(target);\n", "*.I1_*"),
    Break("I4", "view.cpp", "!target.requires_grad() || record->grad_fn,", "true,", "*.I4_*"),
    Break("I7", "tensor_record.cpp", "  record.generation.fetch_add(1, std::memory_order_relaxed);\n", "",
          "*.I7_write_to_the_base*"),
    Break("I11", "view.cpp", "target.is_contiguous() || !may_overlap_itself(target.sizes(), target.strides()),",
          "true,", "*.I11_*"),
    Break("A3", "graph_task.cpp", "if (child != nullptr && i < 64) needs |= uint64_t{1} << i;",
          "if (i < 64) needs |= uint64_t{1} << i;", "*.A3_frozen*"),
    Break("A5", "node.cpp", "  released_ = true;\n", "", "*.A5_second*"),
    Break("A17", "graph_task.cpp", "if (!retain_graph_) node.release();", "", "*.A17_layers*"),
    Break("E1", "accumulate_grad.cpp", "  record.accumulator = fresh.get();\n", "", "*.E1_leaf*"),
    Break("E3", "graph_task.cpp", "      ++slot.dependencies;\n", "      slot.dependencies = 1;\n", "*.E3_*"),
    Break("E11", "ready_queue.h", "sequence < other.sequence", "sequence > other.sequence", "*.E11_newest*"),
    Break("E13", "graph_task.cpp", "edge.node->topological() < lowest_target_", "false", "*.E13_*", "allocation_failures"),
    Break("E16", "graph_task.cpp", "path.back().slot->needed |= slot.needed || slot.wanted;",
          "path.back().slot->needed = true;", "*.A6_E16_*"),
    Break("E17", "engine.cpp", "t_engine.depth < kMaxBackwardDepth", "t_engine.depth < 2 * kMaxBackwardDepth",
          "*.E17_backward_nested_deeper*"),
    Break("E19", "engine.cpp", "~RunningTask() { t_engine = previous_; }", "~RunningTask() = default;",
          "*.E19_exception*"),
    Break("E23", "node.cpp", "  if (mine.destroying) {\n", "  if (false) {\n", "*.E23_million_operators*"),
    Break("I2", "saved_tensor.cpp", "if (found == version_) return;", "if (found >= version_) return;", "*.I2_*"),
    Break("I8", "view.cpp", "  if (record.view_kind == ViewKind::kNormal) return;\n",
          "  if (record.view_kind != ViewKind::kInference) return;\n", "*.I8_views*"),
    Break("A7", "hooks.cpp", "sum.defined() ? ops.add(sum, grad) : ops.clone(grad)", "ops.clone(grad)",
          "*.A7_retained*"),
    Break("A10", "custom_function.cpp", "const bool zeros = materialize_ && outputs()[k].exists;",
          "const bool zeros = false;", "*.A10_*"),
    Break("A15", "saved_tensor.cpp", "original_ = keeps_its_history(tensor, kind);",
          "original_ = keeps_its_history(tensor, kind) || true;", "*.A15_*"),
    Break("A16", "saved_tensor.cpp", "if (!packed_) check_version(owner);", "if (!packed_ && false) check_version(owner);",
          "*.A16_*"),
    Break("E2", "node.cpp", "topological_ = edge.node->topological_ + 1;", "topological_ = 1;", "*.E2_*"),
    Break("E6", "copy_slices.cpp", "  gradient_ops().copy_into(slice, old);\n", "", "*.E6_*"),
    Break("E7", "custom_function.cpp", "if (!once_ || !ctx.create_graph()) {", "if (!once_ || !ctx.create_graph() || true) {",
          "*.E7_*"),
    Break("E12", "engine.cpp", "const GradModeScope mode({create_graph, false});",
          "const GradModeScope mode({create_graph || true, false});", "*.E12_*"),
    Break("E14", "graph_task.cpp", "  return owns_alone(tensor) &&\n", "  return (owns_alone(tensor) || true) &&\n", "*.E14_*"),
    Break("E21", "backward_streams.cpp", "      place.caller->wait(*record_event(*stream, place.device));\n",
          "      static_cast<void>(stream);\n", "*.E21_*"),
    Break("E24", "accumulate_grad.cpp", "    const std::lock_guard guard(mutex_);\n", "", "*.E24_*"),
    Break("I5", "tensor_record.cpp", "    replace_history(tensor, record, std::move(node), output);\n", "", "*.I5_*"),
    Break("I9", "view.cpp", "source.has(kInferenceFlag) || !is_differentiable(source.dtype())",
          "source.has(kInferenceFlag)", "*.I9_*"),
    Break("I10", "custom_function.cpp", "    begin_inplace(output, records_);\n", "", "*I10_*"),
)


def build(folder: Path, program: str) -> None:
    subprocess.run(["ninja", "-C", folder, f"test_{program}"], check=True, stdout=subprocess.DEVNULL)


def fails(folder: Path, chosen: Break) -> tuple[bool, str]:
    """Whether a test fails or ends the process, and the last line of its output."""
    sub = "ops" if chosen.program == "allocation_failures" else chosen.program
    program = folder / "tests" / sub / f"test_{chosen.program}"
    run = subprocess.run([program, f"--gtest_filter={chosen.test}"], capture_output=True, text=True, timeout=300)
    if "Running 0 tests" in run.stdout:
        return False, "no test"
    failed = [line.split("] ")[1].split(" (")[0] for line in run.stdout.splitlines() if line.startswith("[  FAILED  ] ")]
    return run.returncode != 0, failed[0] if failed else f"exit status {run.returncode}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    parser.add_argument("rows", nargs="*")
    args = parser.parse_args()
    problems = 0
    print("| row | line | test that fails |\n|---|---|---|")
    for chosen in BREAKS:
        if args.rows and chosen.row not in args.rows:
            continue
        path = ROOT / "src" / "autograd" / chosen.file
        text = path.read_text()
        if text.count(chosen.line) != 1:
            problems += 1
            print(f"| {chosen.row} | `{chosen.file}`: {chosen.line.strip()} | the line is not there once |")
            continue
        try:
            path.write_text(text.replace(chosen.line, chosen.instead))
            build(args.build, chosen.program)
            failed, what = fails(args.build, chosen)
        finally:
            path.write_text(text)
        problems += not failed
        print(f"| {chosen.row} | `{chosen.file}`: `{chosen.line.strip()}` | {what if failed else 'NONE FAILED'} |", flush=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The profiler: tables, traces, schedules, stacks, errors, and its page in a browser."""

from __future__ import annotations

import gc
import json
import pathlib
import re
import shutil
import subprocess
import threading
import weakref

import pytest

import tessera as ts
import tessera.torch as torch
from tessera import profiler
from tessera.profiler import ProfilerAction, profile, record_function, schedule


def step(width: int = 16) -> None:
    x = ts.ones((8, width), requires_grad=True)
    with record_function("forward"):
        loss = ts.sum(ts.exp(ts.matmul(x, ts.ones((width, 4)))))
    with record_function("backward"):
        loss.backward()


def row(averages: profiler.Averages, key: str) -> profiler.Average:
    (found,) = [r for r in averages if r.key == key]
    return found


def test_r11_table_has_functions_ranges_and_nodes_with_costs() -> None:
    with profile() as prof:
        step()
    rows = prof.key_averages()
    product = row(rows, "matmul")
    assert product.kind == "call" and product.count == 1
    assert product.flops == 2 * 8 * 16 * 4
    assert product.bytes == 4 * (8 * 16 + 16 * 4 + 8 * 4)
    assert row(rows, "MatmulBackward").kind == "node"
    forward = row(rows, "forward")
    assert forward.kind == "range" and forward.cpu_time_total >= product.cpu_time_total >= product.self_cpu_time_total
    assert forward.flops >= product.flops
    kernels = prof.key_averages(group="kernels")
    assert row(kernels, "exp").flops == 32 and all(r.kind == "kernel" for r in kernels)
    text = rows.table(sort_by="cpu_time_total", row_limit=2)
    assert text.splitlines()[0].startswith("Name") and "more rows" in text
    assert "matmul" in str(rows)
    with pytest.raises(ts.InvalidValueError, match="sort_by: expected one of self, total"):
        rows.table(sort_by="weight")
    with pytest.raises(ts.InvalidValueError, match="group: expected one of ops"):
        prof.key_averages(group="rows")


def test_r11_rows_of_shapes() -> None:
    with profile(record_shapes=True) as prof:
        ts.exp(ts.ones((2, 3)))
        ts.exp(ts.ones(4))
        ts.concat([ts.ones(2), ts.ones(3)])
    rows = prof.key_averages(group_by_input_shape=True)
    assert sorted(r.input_shapes for r in rows if r.key == "exp") == [[[2, 3]], [[4]]]
    assert row(rows, "concat").input_shapes == [[[2], [3]]]
    (event,) = [e for e in prof.events() if e["name"] == "concat" and e["kind"] == "call"]
    assert event["dtypes"] == [["float32", "float32"]]


def test_r11_chrome_trace_loads(tmp_path: pathlib.Path) -> None:
    with profile(profile_memory=True, record_shapes=True) as prof:
        step()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(path)
    events = json.loads(path.read_text())["traceEvents"]
    spans = {e["name"]: e for e in events if e["ph"] == "X"}
    call = spans["matmul"]
    assert call["args"]["Input Dims"] == [[8, 16], [16, 4]]
    assert {"forward", "backward", "MatmulBackward", "gemm"} <= spans.keys()
    forward = spans["forward"]
    assert forward["ts"] <= call["ts"] and call["ts"] + call["dur"] <= forward["ts"] + forward["dur"] + 0.001
    assert call["tid"] == threading.get_native_id()
    assert any(e["ph"] == "C" and e["args"]["bytes"] > 0 for e in events)
    assert any(e["ph"] == "M" and e["name"] == "thread_name" for e in events)


def test_r11_schedule_calls_back_with_each_cycle() -> None:
    seen: list[set[str]] = []

    def ready(prof: profile) -> None:
        seen.append({e["name"] for e in prof.events() if e["kind"] == "range"})

    plan = schedule(wait=1, warmup=1, active=2, repeat=2)
    expected = [plan(i) for i in range(9)]
    actions = []
    with profile(schedule=plan, on_trace_ready=ready) as prof:
        for i in range(9):
            actions.append(prof.current_action)
            with record_function(f"work {i}"):
                ts.exp(ts.ones(2))
            prof.step()
    assert actions == expected
    assert expected[:4] == [
        ProfilerAction.NONE, ProfilerAction.WARMUP, ProfilerAction.RECORD, ProfilerAction.RECORD_AND_SAVE,
    ]  # fmt: skip
    first, second = seen
    assert first == {"ProfilerStep#2", "work 2", "ProfilerStep#3", "work 3"}
    assert second == {"ProfilerStep#6", "work 6", "ProfilerStep#7", "work 7"}
    with pytest.raises(ts.InvalidValueError, match="active steps"):
        schedule(wait=1, warmup=0, active=0)
    with pytest.raises(ts.ArgumentTypeError, match="schedule"):
        profile(schedule=lambda step: ProfilerAction.RECORD)  # type: ignore[arg-type]


def test_r11_threads_have_their_own_events() -> None:
    def work() -> None:
        with record_function("on a thread"):
            ts.exp(ts.ones(2))

    with profile() as prof:
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        work()
    ranges = [e for e in prof.events() if e["name"] == "on a thread"]
    assert len({e["thread"] for e in ranges}) == 2
    assert row(prof.key_averages(), "on a thread").count == 2


def test_r11_python_frames_of_functions(tmp_path: pathlib.Path) -> None:
    def inner() -> None:
        ts.exp(ts.ones(2))

    with profile(with_stack=True) as prof:
        inner()
    (event,) = [e for e in prof.events() if e["name"] == "exp" and e["kind"] == "call"]
    frames = event["stack"].split("\n")
    assert re.search(r"test_profiler\.py:\d+ in test_r11_python_frames_of_functions\.<locals>\.inner$", frames[0])
    assert frames[1].endswith("in test_r11_python_frames_of_functions")
    prof.export_stacks(tmp_path / "stacks.txt")
    assert re.search(r"inner;exp \d+$", (tmp_path / "stacks.txt").read_text(), re.MULTILINE)
    with ts.autograd.detect_anomaly(), profile(with_stack=True):
        pass
    assert not ts.autograd.is_anomaly_enabled()


def test_r11_python_frames_of_every_thread() -> None:
    def of_a_thread() -> None:
        ts.exp(ts.ones(2))

    with profile(with_stack=True) as prof:
        thread = threading.Thread(target=of_a_thread)
        thread.start()
        thread.join()
    (event,) = [e for e in prof.events() if e["name"] == "exp" and e["kind"] == "call"]
    assert event["stack"].split("\n")[0].endswith("of_a_thread")
    assert event["stack"].count("threading.py") == 3  # its run, and what begins a thread


def test_lost_events_are_counted() -> None:
    with profile(capacity=1) as prof:
        for _ in range(1000):
            ts.exp(ts.ones(2))
    recording = prof.recording()
    assert len(recording["events"]) + recording["lost"] >= 2000 and recording["lost"] > 0


def test_errors_of_the_callback_come_back_and_one_profiler_runs_at_a_time() -> None:
    def fail(_prof: profile) -> None:
        raise KeyError("full")

    with pytest.raises(KeyError, match="full"), profile(on_trace_ready=fail):
        pass
    with profile(), pytest.raises(ts.InvalidValueError, match="no running profiler"):
        profile().start()
    with pytest.raises(ts.InvalidValueError, match="recorded a cycle"):
        profile().key_averages()


def test_a_profile_leaves_nothing_behind() -> None:
    prof = profile(on_trace_ready=lambda p: None)
    with prof:
        pass
    known = weakref.ref(prof)
    del prof
    gc.collect()
    assert known() is None


def test_record_function_decorates_nests_and_costs_nothing_outside() -> None:
    @record_function("decorated")
    def run(n: int) -> int:
        return n if n == 0 else run(n - 1)

    assert run(2) == 0
    with profile() as prof:
        assert run(2) == 0
        with pytest.raises(ZeroDivisionError), record_function("fails"):
            _ = 1 // 0
    ranges = [e for e in prof.events() if e["kind"] == "range"]
    assert [e["name"] for e in ranges] == ["decorated"] * 3 + ["fails"]
    assert ranges[2]["parent"] == ranges[1]["correlation"]


def test_roof_adds_the_share_of_it() -> None:
    found = profiler.roof("cpu")
    assert found.bytes_per_second > 1e8 and found.flops_per_second > 1e8
    assert profiler.roof() == found
    with profile(with_flops=True) as prof:
        step()
    assert "Of roof" in prof.key_averages().table()
    assert row(prof.key_averages(), "matmul").floor_time > 0


def test_names_of_pytorch(tmp_path: pathlib.Path) -> None:
    with torch.profiler.profile(
        activities=[torch.profiler.ProfilerActivity.CPU],
        schedule=torch.profiler.schedule(wait=0, warmup=0, active=1, repeat=1),
        on_trace_ready=torch.profiler.tensorboard_trace_handler(tmp_path / "logs", "worker"),
    ) as prof:
        with torch.profiler.record_function("forward"):
            torch.exp(torch.ones(3))
        prof.step()
    (file,) = (tmp_path / "logs").iterdir()
    assert file.name.startswith("worker.") and "forward" in file.read_text()
    assert "exp" in prof.key_averages().table(sort_by="self_cpu_time_total", row_limit=10)


# ---- The page ----

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")


def browse(page: pathlib.Path, part: str, *options: str) -> str:
    """The page's elements after its scripts have run."""
    assert CHROMIUM is not None
    call = [
        CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
        f"--user-data-dir={page.parent / 'browser'}", "--window-size=1280,800", "--virtual-time-budget=3000", *options,
        f"{page.as_uri()}#{part}",
    ]  # fmt: skip
    return subprocess.run(call, capture_output=True, text=True, timeout=120, check=True).stdout


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("page") / "profile.html"
    with profile(record_shapes=True, profile_memory=True, with_flops=True) as prof:
        for _ in range(3):
            step(64)
        worker = threading.Thread(target=step)
        worker.start()
        worker.join()
    prof.export_html(path)
    return path


needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed")


@needs_browser
def test_r11_page_shows_timeline_flame_graph_table_and_curve(page: pathlib.Path) -> None:
    dom = browse(page, "all", "--dump-dom")

    def number(attribute: str, where: str = dom) -> list[int]:
        return [int(n) for n in re.findall(rf'{attribute}="(\d+)"', where)]

    spans, drawn = number("data-spans"), number("data-drawn")
    assert len(spans) == 2 and min(spans) > 10 and min(drawn) >= 0 and max(drawn) > 10
    assert number("data-boxes")[0] > 10 and ">matmul<" in dom
    rows = re.findall(r"<tr>.*?</tr>", dom)
    assert len(rows) > 15 and any("matmul" in r and "[[8,64],[64,4]]" in r for r in rows)
    assert number("data-points")[0] > 10
    assert "peak memory of cpu" in dom and "roof of cpu" in dom
    assert "http" not in re.sub(r"http://www\.w3\.org/\d+/(svg|xhtml)", "", dom)


@needs_browser
def test_r11_page_has_no_error_in_its_scripts(page: pathlib.Path, tmp_path: pathlib.Path) -> None:
    probe = tmp_path / "probe.html"
    text = page.read_text(encoding="utf-8")
    watch = "<script>onerror = (message) => document.documentElement.setAttribute('data-error', message);</script>"
    probe.write_text(text.replace("<body>", f"<body>{watch}", 1), encoding="utf-8")
    for part in ("timeline", "flame", "operators", "kernels", "memory"):
        assert "data-error" not in browse(probe, part, "--dump-dom").split(">", 2)[1], part


@needs_browser
def test_page_of_an_empty_profile(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "empty.html"
    with profile() as prof:
        pass
    prof.export_html(path)
    assert "nothing was recorded" in browse(path, "all", "--dump-dom")



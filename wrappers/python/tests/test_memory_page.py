# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The page of the memory viewer, opened in a browser without a network."""

import json
import re
import subprocess

import pytest

import tessera as ts
from tessera import memory, nn

FLAGS = ["--headless", "--no-sandbox", "--disable-gpu", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1300,900"]
MODEL = nn.Sequential(
    nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
    nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(32, 10),
)  # fmt: skip


def train_step(x):
    MODEL(x).sum().backward()
    MODEL.zero_grad()


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """(the DOM after the page's script, the snapshot that the page is about)"""
    folder = tmp_path_factory.mktemp("page")
    before = ts.ones((1024, 1024))
    with memory.record_history():
        x = ts.ones((8, 3, 64, 64))
        for _ in range(3):
            train_step(x)
        kept = [ts.ones((256, 1024)) for _ in range(2)]
        taken = memory.snapshot()
    memory.viewer(folder / "memory.html", snapshot=taken)
    command = [
        "chromium", *FLAGS, f"--user-data-dir={folder / 'profile'}", "--virtual-time-budget=5000", "--dump-dom",
        f"{(folder / 'memory.html').as_uri()}#all",
    ]  # fmt: skip
    found = subprocess.run(command, capture_output=True, text=True, timeout=240, check=True)
    assert len(kept) == 2 and before.shape == (1024, 1024)
    assert "Uncaught" not in found.stderr, found.stderr
    dom = re.sub(r"<script>.*?</script>", "", found.stdout, flags=re.S)
    return dom, taken


def section(dom, name):
    return re.search(rf'<section id="{name}".*?</section>', dom, flags=re.S).group(0)


def test_timeline_has_a_band_for_each_large_holder(page):
    found = section(page[0], "timeline")
    bands = int(re.search(r'data-bands="(\d+)"', found).group(1))
    assert bands >= 5
    assert "before the recording" in found
    assert re.search(r"conv2d at test_memory_page\.py:\d+ in train_step", found)


def test_segments_show_every_block_of_the_pools(page):
    dom, taken = page
    found = section(dom, "segments")
    assert found.count('class="segment"') == len(taken["segments"])
    lent = sum(b["state"] == "active_allocated" for s in taken["segments"] for b in s.get("blocks", []))
    assert found.count('class="block"') >= lent > 0
    assert 'class="free"' in found


def test_holders_show_operation_tensor_and_place(page):
    found = section(page[0], "holders")
    rows = re.findall(r'<tr class="holder">.*?</tr>', found, flags=re.S)
    kept = next(row for row in rows if "float32[256, 1024]" in row)
    assert ">2.00 MiB<" in kept.replace("</span>2.00 MiB", ">2.00 MiB<")
    assert "test_memory_page.py" in kept
    assert len(rows) >= 2


def test_events_are_listed_and_counted(page):
    dom, taken = page
    found = section(dom, "events")
    assert f"{len(taken['history'])} of {len(taken['history'])} events" in found
    assert found.count("<tr>") == min(len(taken["history"]), 500) + 1


def test_texts_of_the_snapshot_cannot_break_the_page(tmp_path):
    with memory.record_history(stacks=0):
        taken = memory.snapshot()
    taken["device"] = "</script><b>broken</b>"
    memory.viewer(tmp_path / "page.html", snapshot=json.loads(json.dumps(taken)))
    text = (tmp_path / "page.html").read_text()
    assert text.count("</script>") == 1

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""The schedule of tests/run.sh, over parts that are small scripts, and what the summary makes of their reports."""

import contextlib
import dataclasses
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import schedule  # noqa: E402
from earlier import Earlier  # noqa: E402
from parts import PARTS, Part  # noqa: E402
from slowest import slowest  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
SUMMARIZE = ROOT / "tests/tools/summarize.py"


class Parts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.order = self.folder / "order"

    def script(self, name, text):
        (self.folder / f"{name}.sh").write_text(f"cd {self.folder}\necho begin $1 >>order\n{text}\necho end $1 >>order\n")

    def run_parts(self, *parts, jobs=2, earlier=None):
        """What is printed, the lines that the scripts left, and the summary's status and output."""
        printed = io.StringIO()
        printed.buffer = io.BytesIO()
        with contextlib.redirect_stdout(printed):
            schedule.Schedule(list(parts), self.folder, jobs, scripts=self.folder, earlier=earlier).run()
        lines = self.order.read_text().splitlines() if self.order.exists() else []
        summary = subprocess.run(
            [sys.executable, SUMMARIZE, self.folder, ROOT / "tests/skips.txt"], capture_output=True, text=True
        )
        return printed.getvalue() + printed.buffer.getvalue().decode(), lines, summary.returncode, summary.stdout


class ScheduleTest(Parts):
    def test_a_part_begins_when_what_it_waits_for_has_ended(self):
        self.script("work", "sleep 0.2; touch $1.done")
        parts = [Part("c", "work", after=("b",)), Part("b", "work", ("a",)), Part("a", "work")]
        _, lines, status, text = self.run_parts(*parts)
        self.assertEqual(lines, [f"{what} {name}" for name in "abc" for what in ("begin", "end")])
        self.assertEqual((status, text), (0, "3 passed, 0 failed, 0 skipped\n"))

    def test_as_many_parts_run_as_there_are_cores_and_one_that_compiles(self):
        three = "for ((i = 0; i < 400 && $(grep -c begin order) < 3; i++)); do sleep 0.05; done"
        self.script("work", f"{three}; touch $1.done")
        parts = [Part(name, "work") for name in "abc"] + [Part(name, "work", compiles=True) for name in "xy"]
        _, lines, status, _ = self.run_parts(*parts)
        self.assertEqual(sorted(lines[:3]), ["begin a", "begin b", "begin x"])
        most = at_once = 0
        for line in lines:
            at_once += 1 if line.startswith("begin") else -1
            most = max(most, at_once)
        self.assertEqual((most, status), (3, 0))

    def test_what_compiles_has_the_lower_priority(self):
        self.script("work", 'echo "niceness $(nice)"; touch $1.done')
        printed, _, _, _ = self.run_parts(Part("a", "work", compiles=True))
        self.assertIn(f"niceness {os.nice(0) + schedule.NICENESS}\n", printed)

    def test_what_a_part_prints_is_shown_when_it_fails(self):
        self.script("work", "echo the reason; exit 3")
        printed, _, status, text = self.run_parts(Part("a", "work"))
        self.assertIn("FAILED with exit status 3", printed)
        self.assertIn("the reason", printed)
        self.assertEqual((status, text), (1, "FAILED: a: died without a report\n0 passed, 1 failed, 0 skipped\n"))

    def test_a_part_that_dies_without_a_report_is_a_failure(self):
        self.script("work", "kill -9 $$")
        printed, _, status, text = self.run_parts(Part("a", "work"))
        self.assertIn("FAILED with exit status -9", printed)
        self.assertIn("a: died without a report", text)
        self.assertEqual(status, 1)

    def test_a_part_is_not_run_when_one_that_it_needs_failed(self):
        self.script("fail", "exit 1")
        self.script("work", "touch $1.done")
        parts = [Part("a", "fail"), Part("b", "work", ("a",)), Part("c", "work", ("b",)), Part("d", "work", after=("a",))]
        printed, lines, status, text = self.run_parts(*parts)
        self.assertIn("b: not run, because a failed", printed)
        self.assertIn("c: not run, because b failed", printed)
        self.assertEqual(lines, ["begin a", "begin d", "end d"])
        self.assertEqual((status, text.splitlines()[-1]), (1, "1 passed, 3 failed, 0 skipped"))

    def test_the_times_of_all_parts_are_written(self):
        self.script("work", "touch $1.done; for ((i = 0; i < 200000; i++)); do :; done")
        self.run_parts(Part("a", "work"), Part("b", "work"))
        rows = [line.split() for line in (self.folder / "times.txt").read_text().splitlines()]
        self.assertEqual([row[0] for row in rows], ["part", rows[1][0], rows[2][0], "all"])
        for row in rows[1:3]:
            self.assertGreater(float(row[1]), 0)
            self.assertGreater(float(row[2]), 0)

    def test_nothing_runs_on_when_the_schedule_is_ended(self):
        reports = self.folder / "reports"
        reports.mkdir()
        run = ("import pathlib, sys; sys.path.insert(0, sys.argv[1]); import schedule; from parts import Part\n"
               "folder = pathlib.Path(sys.argv[2])\nschedule.end_with_signals()\n"
               "schedule.Schedule([Part('a', 'work')], folder / 'reports', 2, scripts=folder).run()")  # fmt: skip
        self.script("work", "sleep 20 & echo $! >pid.new; mv pid.new pid; wait; touch survived")
        process = subprocess.Popen([sys.executable, "-c", run, ROOT / "tests/run", self.folder], stdout=subprocess.DEVNULL)
        while not (self.folder / "pid").exists():
            time.sleep(0.02)
        process.terminate()
        self.assertEqual(process.wait(), 128 + 15)
        sleeper = pathlib.Path("/proc", (self.folder / "pid").read_text().strip(), "stat")
        limit = time.monotonic() + 4  # it sleeps longer
        while (state := self.state_of(sleeper)) not in ("gone", "Z") and time.monotonic() < limit:
            time.sleep(0.05)
        self.assertIn(state, ("gone", "Z"))
        self.assertFalse((self.folder / "survived").exists())

    def state_of(self, stat):
        try:
            return stat.read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return "gone"

    def test_the_table_of_parts_has_an_order(self):
        schedule.check(PARTS)
        ended = set()
        for _ in PARTS:
            ended |= {part.name for part in PARTS if {*part.needs, *part.after} <= ended}
        self.assertEqual(ended, {part.name for part in PARTS})
        for part in PARTS:
            script = (ROOT / "tests/run" / f"{part.script}.sh").read_text()
            self.assertTrue(part.script == part.name or f"  {part.name})" in script or "  build-*)" in script, part.name)

    def test_the_builds_of_a_part_are_those_that_it_needs(self):
        of = {part.name: schedule.Schedule([], self.folder, 1).builds_of(part) for part in PARTS}
        self.assertEqual((of["types"], of["rust"], of["wheel"]), ((), ("release",), ("release",)))
        self.assertEqual((of["tools"], of["asan"], of["tsan"]), (("release",), ("asan",), ("tsan",)))


class SlowestTest(Parts):
    def test_the_slowest_files_of_this_run_are_found(self):
        build = self.folder / "release"
        (build / "src").mkdir(parents=True)
        rows = [(0, 500, "src/old.cpp.o"), (0, 9000, "src/a.cpp.o"), (100, 2100, "src/a.cpp.o"), (0, 3000, "src/b.cpp.o"),
                (0, 1000, "src/headers.gch"), (0, 7000, "libx.so"), (0, 8000, "src/gone.cpp.o")]  # fmt: skip
        log = "".join(f"{start}\t{end}\t0\t{name}\tabc\n" for start, end, name in rows)
        (build / ".ninja_log").write_text("# ninja log v5\n" + log)
        for _, _, name in rows[:-1]:
            (build / name).touch()
        os.utime(build / "src/old.cpp.o", (1, 1))
        expected = [(3.0, "release/src/b.cpp.o"), (2.0, "release/src/a.cpp.o"), (1.0, "release/src/headers.gch")]
        self.assertEqual(slowest(self.folder, time.time() - 60), expected)
        self.assertEqual(slowest(self.folder, time.time() - 60, 1), expected[:1])


class EarlierTest(Parts):
    """Runs in a checkout that has the file `source` and the library of one build."""

    def setUp(self):
        super().setUp()
        self.checkout = self.folder / "checkout"
        self.library = self.checkout / "build/release/libtessera.so.0.1.0"
        self.library.parent.mkdir(parents=True)
        self.library.write_text("code")
        (self.checkout / "source").write_text("1")
        (self.checkout / ".gitignore").write_text("build/\n")
        subprocess.run(["git", "init", "-q", self.checkout], check=True)
        self.script("work", "touch $1.done")
        self.part = Part("wheel", "work", ("library",))
        self.environment = {}

    def runs(self, part=None):
        """Whether the part runs, in a run of its own; it must have passed."""
        for path in [self.order, *self.folder.glob("*.done"), self.folder / "parts.txt", self.folder / "earlier.txt"]:
            path.unlink(missing_ok=True)
        found = Earlier(self.folder, self.checkout)
        _, lines, status, text = self.run_parts(part or self.part, earlier=found)
        self.assertEqual((status, text.splitlines()[-1]), (0, "1 passed, 0 failed, 0 skipped"))
        self.assertEqual("in an earlier run" in text, not lines)
        return bool(lines)

    def test_a_part_that_passed_runs_again_when_something_has_changed(self):
        self.assertEqual([self.runs(), self.runs()], [True, False])
        (self.checkout / "source").write_text("2")
        self.assertEqual([self.runs(), self.runs()], [True, False])
        (self.checkout / "not yet added").write_text("")
        self.assertEqual([self.runs(), self.runs()], [True, False])
        self.library.write_text("other code")
        self.assertEqual([self.runs(), self.runs()], [True, False])
        self.addCleanup(os.environ.pop, "TSR_TEST_EARLIER")
        os.environ["TSR_TEST_EARLIER"] = "1"
        self.assertEqual([self.runs(), self.runs()], [True, False])
        Earlier(self.folder, self.checkout).forget()
        self.assertTrue(self.runs())

    def test_some_parts_run_always(self):
        for part in (dataclasses.replace(self.part, always=True), dataclasses.replace(self.part, compiles=True)):
            self.assertEqual([self.runs(part), self.runs(part)], [True, True])

    def test_what_other_parts_use_must_be_there(self):
        part = dataclasses.replace(self.part, makes="build/made")
        self.assertEqual([self.runs(part), self.runs(part)], [True, True])
        (self.checkout / "build/made").write_text("")
        self.assertFalse(self.runs(part))

    def test_what_changes_during_the_run_counts(self):
        self.script("work", f"touch $1.done; date +%N >{self.checkout}/source")
        self.assertEqual([self.runs(), self.runs()], [True, True])

    def test_failures_and_skips_are_tried_again(self):
        found = Earlier(self.folder, self.checkout)
        for inside in ("<failure/>", "<skipped message='no'/>"):
            report = f"<testsuite><testcase classname='a' name='b'>{inside}</testcase></testsuite>"
            (self.folder / "wheel.junit.xml").write_text(report)
            found.keep("wheel", found.key())
            self.assertFalse(found.has("wheel"))

    def test_without_git_everything_runs(self):
        (self.checkout / ".git/HEAD").unlink()
        self.assertEqual([self.runs(), self.runs()], [True, True])


if __name__ == "__main__":
    unittest.main()

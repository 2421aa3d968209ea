#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Adds up the reports of all parts of tests/run.sh and checks the skips.

Usage: summarize.py <report folder> <skips file>. parts.txt names the parts that were started. A part
reports as <part>.done (it has no cases of its own), <part>.junit.xml, or <part>.ctest.xml with the
GoogleTest reports of its executables in <part>.gtest/. A part or an executable that left no report
is one failure. earlier.txt names the parts whose reports are those of an earlier run (tests/run/earlier.py).
"""

import fnmatch
import pathlib
import sys
import xml.etree.ElementTree as ET


class Tally:
    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def add_case(self, name, case):
        """One <testcase> of a junit or GoogleTest report."""
        if case.find("failure") is not None or case.find("error") is not None:
            self.failed.append(name)
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            note = case.find("skipped")
            reason = (note.get("message") or "") if note is not None else "disabled"
            self.skipped.append((name, reason.strip().splitlines()[0] if reason.strip() else ""))
        else:
            self.passed += 1


def read_cases(path):
    try:
        return list(ET.parse(path).getroot().iter("testcase"))
    except (ET.ParseError, OSError):
        return None


def add_junit(tally, part, path):
    cases = read_cases(path)
    if not cases:
        tally.failed.append(f"{part}: report is empty or broken")
        return
    for case in cases:
        tally.add_case(f"{part}/{case.get('classname')}.{case.get('name')}", case)


def add_ctest(tally, part, path, gtest_folder):
    cases = read_cases(path)
    if not cases:
        tally.failed.append(f"{part}: report is empty or broken")
        return
    for case in cases:
        name = case.get("name")
        report = gtest_folder / f"{name}.xml"
        inner = read_cases(report) if report.is_file() else None
        if inner is None:
            if name.startswith("test_") and case.find("failure") is None and case.find("skipped") is None:
                tally.failed.append(f"{part}/{name}: passed without a report")
            else:
                tally.add_case(f"{part}/{name}", case)
            continue
        before = len(tally.failed)
        for test in inner:
            tally.add_case(f"{part}/{test.get('classname')}.{test.get('name')}", test)
        # All cases passed and yet the process failed: a leak report or a crash on the way out.
        if case.find("failure") is not None and len(tally.failed) == before:
            tally.failed.append(f"{part}/{name}: failed outside its cases")


def read_skips(path):
    """Lines 'pattern: reason'; the pattern is a shell pattern on part/suite.case."""
    rules = []
    for line in path.read_text().splitlines() if path.is_file() else []:
        line = line.strip()
        if line and not line.startswith("#"):
            pattern, _, reason = line.partition(": ")
            rules.append((pattern.strip(), reason.strip()))
    return rules


def add_part(tally, folder, part):
    if (folder / f"{part}.done").exists():
        tally.passed += 1
    elif (folder / f"{part}.junit.xml").exists():
        add_junit(tally, part, folder / f"{part}.junit.xml")
    elif (folder / f"{part}.ctest.xml").exists():
        add_ctest(tally, part, folder / f"{part}.ctest.xml", folder / f"{part}.gtest")
    else:
        tally.failed.append(f"{part}: died without a report")


def main():
    folder, skips = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    tally = Tally()
    parts = (folder / "parts.txt").read_text().split()
    for part in parts:
        add_part(tally, folder, part)
    rules = read_skips(skips)
    for pattern, reason in rules:
        if not reason:
            tally.failed.append(f"{skips.name}: '{pattern}' has no reason")
    for name, reason in tally.skipped:
        listed = next((why for pattern, why in rules if fnmatch.fnmatch(name, pattern)), None)
        if listed is None:
            tally.failed.append(f"{name}: skipped, but not in {skips.name} ({reason})")
        else:
            print(f"skipped: {name}: {listed}")
    for name in tally.failed:
        print(f"FAILED: {name}")
    if earlier := (folder / "earlier.txt").read_text().split() if (folder / "earlier.txt").exists() else []:
        then = Tally()
        for part in earlier:
            add_part(then, folder, part)
        print(f"{then.passed} of these passed in an earlier run, and nothing has changed since: {', '.join(earlier)}"
              " (--again runs them)")
    print(f"{tally.passed} passed, {len(tally.failed)} failed, {len(tally.skipped)} skipped")
    return 1 if tally.failed or not tally.passed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The Tessera Authors
# SPDX-License-Identifier: Apache-2.0
"""Makes a junit report from the output of `cargo test`.

Usage: cargo_junit.py <log of cargo test> <exit status of cargo test> <report to write>

Each test is a case. Each test program is one more case, which fails if the program left no result line, because then
it crashed. Only a build failure leaves a log without a program.
"""

import re
import sys
import xml.etree.ElementTree as ET

PROGRAM = re.compile(r"^\s+(?:Running (?:unittests )?(\S+) \(|Doc-tests (\S+))")
CASE = re.compile(r"^test (.+?)(?: - should panic| - compile(?: fail)?)? \.\.\. (ok|FAILED|ignored)(?:, (.*))?$")
RESULT = re.compile(r"^test result: ")


def programs(lines):
    """(name, cases, whether it finished) of each test program."""
    found = []
    for line in lines:
        if start := PROGRAM.match(line):
            found.append([start[1] or f"doc-tests/{start[2]}", [], False])
        elif found and (case := CASE.match(line)):
            found[-1][1].append((case[1], case[2], case[3] or ""))
        elif found and RESULT.match(line):
            found[-1][2] = True
    return found


def main():
    log, status, report = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    with open(log, encoding="utf-8", errors="replace") as text:
        found = programs(text.read().splitlines())
    suite = ET.Element("testsuite", name="rust")
    failed = False
    for name, cases, ended in found:
        for case, outcome, reason in cases:
            entry = ET.SubElement(suite, "testcase", classname=name, name=case)
            if outcome == "FAILED":
                failed = True
                ET.SubElement(entry, "failure", message="failed, see the log")
            elif outcome == "ignored":
                ET.SubElement(entry, "skipped", message=reason or "ignored")
        if not ended:
            failed = True
            entry = ET.SubElement(suite, "testcase", classname=name, name="whole program")
            ET.SubElement(entry, "failure", message="the program ended before its result line")
    if status != 0 and not failed:
        entry = ET.SubElement(suite, "testcase", classname="cargo", name="build")
        ET.SubElement(entry, "failure", message=f"cargo test ended with status {status}")
    ET.ElementTree(suite).write(report, encoding="unicode")
    return 0


if __name__ == "__main__":
    sys.exit(main())

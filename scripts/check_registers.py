#!/usr/bin/env python3
"""Holds kernels to their register budgets: no more registers than agreed, nothing spilled to memory.

Reads what `nvcc -Xptxas -v` prints or what `cuobjdump --dump-resource-usage` prints, and a CSV of budgets:

    kernel,architecture,registers
    .*read_blocks.*,sm_90,40

The kernel is a regular expression that must be found in the (mangled) name, the architecture a name or * for any. A budget
that no kernel falls under is a fault too: it watches nothing.
"""

from __future__ import annotations

import argparse
import csv
import pathlib
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

COMPILING = re.compile(r"Compiling entry function '(\w+)' for '(\w+)'")
SPILLS = re.compile(r"(\d+) bytes spill stores, (\d+) bytes spill loads")
USED = re.compile(r"Used (\d+) registers")
DUMPED_ARCHITECTURE = re.compile(r"^\s*arch = (\w+)")
DUMPED_NAME = re.compile(r"^\s*Function (\w+):")
DUMPED_USE = re.compile(r"\bREG:(\d+) STACK:(\d+).*?\bLOCAL:(\d+)")


@dataclass(frozen=True)
class Usage:
    kernel: str
    architecture: str
    registers: int
    spilled: int  # bytes in memory: spills, or the stack frame where only that is told


@dataclass(frozen=True)
class Budget:
    kernel: str
    architecture: str
    registers: int

    def covers(self, usage: Usage) -> bool:
        return self.architecture in ("*", usage.architecture) and re.search(self.kernel, usage.kernel) is not None


def usages_in(text: str) -> Iterator[Usage]:
    name = architecture = ""
    spilled = 0
    for line in text.splitlines():
        if found := COMPILING.search(line):
            name, architecture, spilled = found[1], found[2], 0
        elif found := SPILLS.search(line):
            spilled = int(found[1]) + int(found[2])
        elif name and (found := USED.search(line)):
            yield Usage(name, architecture, int(found[1]), spilled)
            name = ""
        elif found := DUMPED_ARCHITECTURE.search(line):
            architecture = found[1]
        elif found := DUMPED_NAME.search(line):
            name = found[1]
        elif name and (found := DUMPED_USE.search(line)):
            yield Usage(name, architecture, int(found[1]), int(found[2]) + int(found[3]))
            name = ""


def budgets_in(text: str) -> list[Budget]:
    rows = csv.DictReader(line for line in text.splitlines() if line and not line.startswith("#"))
    return [Budget(row["kernel"], row["architecture"], int(row["registers"])) for row in rows]


def check(usages: list[Usage], budgets: list[Budget]) -> list[str]:
    faults = []
    for budget in budgets:
        covered = [usage for usage in usages if budget.covers(usage)]
        if not covered:
            faults.append(f"no kernel matches {budget.kernel} for {budget.architecture}")
        for usage in covered:
            where = f"{usage.kernel} ({usage.architecture})"
            if usage.registers > budget.registers:
                faults.append(f"{where}: {usage.registers} registers, at most {budget.registers} agreed")
            if usage.spilled:
                faults.append(f"{where}: {usage.spilled} bytes spilled")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("listing", type=pathlib.Path, help="output of ptxas -v or of cuobjdump --dump-resource-usage")
    parser.add_argument("budgets", type=pathlib.Path, help="CSV: kernel,architecture,registers")
    arguments = parser.parse_args()
    usages = list(usages_in(arguments.listing.read_text(encoding="utf-8")))
    faults = check(usages, budgets_in(arguments.budgets.read_text(encoding="utf-8")))
    print("\n".join(faults + [f"{len(usages)} kernels, {len(faults)} faults"]))
    return 1 if faults or not usages else 0


if __name__ == "__main__":
    sys.exit(main())

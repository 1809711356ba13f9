#!/usr/bin/env python3
"""Runs litmus tests: each file's outcome must be as it says, and every weakened order in it must let the bad one through."""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
import time

from program import Litmus, LitmusError, parse
from ptx_model import is_allowed


def check(litmus: Litmus, verbose: bool) -> tuple[int, list[str]]:
    """How many cases were run, and what disagreed."""
    faults = []
    cases = [("as written", litmus)] + (litmus.mutants() if litmus.forbidden else [])
    for title, case in cases:
        allowed = is_allowed(case)
        if verbose:
            print(f"  {'allowed  ' if allowed else 'forbidden'} {litmus.path.parent.name}/{litmus.path.stem}: {title}")
        if allowed == case.forbidden:
            faults.append(
                f"{litmus.path}: {title}: the bad outcome is {'allowed' if allowed else 'forbidden'},"
                f" it must be {'forbidden' if case.forbidden else 'allowed'}"
            )
    return len(cases), faults


def orders_in(source: pathlib.Path) -> set[str]:
    """Names of the memory orders that the implementation gives to order_of()."""
    found: set[str] = set()
    for path in source.rglob("*.h"):
        found |= set(re.findall(r'order_of\(\s*"([\w.]+)"', path.read_text(encoding="utf-8")))
    return found


def unnamed_orders_in(source: pathlib.Path) -> list[str]:
    """Where the queue or the cache orders memory with no name by which a test could weaken it."""
    found: list[str] = []
    for path in sorted(p for room in ("queue", "cache") for p in (source / "sluice" / room).rglob("*.h")):
        bare = re.sub(r'order_of\(\s*"[\w.]+",\s*lane::\w+', "", path.read_text(encoding="utf-8"))
        found += [
            f"{path}: {line.strip()}"
            for line in bare.splitlines()
            if re.search(r"lane::(acquire|release|acq_rel)\b", line)
        ]
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+", type=pathlib.Path, help="litmus files, or folders of them")
    parser.add_argument("--source", type=pathlib.Path, help="headers whose named orders should each have a test")
    parser.add_argument("--verbose", action="store_true", help="show every case")
    arguments = parser.parse_args()

    paths = [p for f in arguments.files for p in (sorted(f.rglob("*.litmus")) if f.is_dir() else [f])]
    began = time.monotonic()
    cases = 0
    faults: list[str] = []
    names: set[str] = set()
    for path in paths:
        try:
            litmus = parse(path)
        except LitmusError as fault:
            faults.append(str(fault))
            continue
        names |= set(litmus.names())
        count, disagreements = check(litmus, arguments.verbose)
        cases += count
        faults += disagreements
    if arguments.source:
        untested = sorted(orders_in(arguments.source) - names)
        faults += [f"memory order {name} has no litmus test" for name in untested]
        faults += [f"{place}: a memory order without a name" for place in unnamed_orders_in(arguments.source)]
    for fault in faults:
        print(fault)
    print(f"{len(paths)} files, {cases} cases, {len(faults)} faults, {time.monotonic() - began:.1f} s")
    return 1 if faults or not paths else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that the compiler kept the memory orders and scopes that the source asked for.

Reads PTX (`nvcc -ptx`) or SASS (`cuobjdump -sass`) and a file of expectations, one kernel a line:

    mark: st.release.gpu                                   this must stand in the kernel
    refill: fence.acq_rel.gpu, st.relaxed.gpu, !st.weak    in this order; and no instruction of the last kind at all

A kernel is named by its whole name or by a regular expression that matches it. An instruction fits where its opcode begins the
same and holds all the given parts; `weak` stands for a load or store of global memory without any order.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys

ENTRY = re.compile(r"^\s*(?:\.visible\s+)?\.entry\s+(\w+)|^\s*Function\s*:\s*(\w+)")
PTX_OPCODE = re.compile(r"^\s*(?:@!?%\w+\s+)?([a-z][\w.:]*)(?=[\s;])")
SASS_OPCODE = re.compile(r"^\s*/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][\w.]*)")
ORDERED = {"relaxed", "acquire", "release", "acq_rel", "volatile", "mmio", "strong", "constant"}
ELSEWHERE = {"param", "shared", "local", "const"}


def kernels_in(text: str) -> dict[str, list[set[str]]]:
    """The opcodes of every kernel, each as its parts in lower case; the first part comes as '^part'."""
    found: dict[str, list[set[str]]] = {}
    current: list[set[str]] | None = None
    for line in text.splitlines():
        entry = ENTRY.match(line)
        if entry:
            current = found.setdefault(entry[1] or entry[2], [])
            continue
        opcode = SASS_OPCODE.match(line) or PTX_OPCODE.match(line)
        if opcode is None or current is None:
            continue
        first, *rest = opcode[1].lower().replace("::", ".").split(".")
        parts = {f"^{first}", *rest}
        if first in ("ld", "st", "ldg", "stg") and not parts & (ORDERED | ELSEWHERE):
            parts.add("weak")
        current.append(parts)
    return found


def fits(instruction: set[str], wanted: str) -> bool:
    first, *rest = wanted.lower().split(".")
    return {f"^{first}", *rest} <= instruction


def faults_in(name: str, instructions: list[set[str]], wanted: list[str]) -> list[str]:
    faults = []
    position = 0
    for item in wanted:
        if item.startswith("!"):
            count = sum(fits(instruction, item[1:]) for instruction in instructions)
            if count:
                faults.append(f"{name}: {count} × {item[1:]}, which must not be there")
            continue
        place = next((i for i in range(position, len(instructions)) if fits(instructions[i], item)), None)
        if place is None:
            faults.append(f"{name}: no {item}" + (" after the one before it" if position else ""))
        else:
            position = place + 1
    return faults


def check(text: str, expectations: str) -> tuple[int, list[str]]:
    """How many kernels were looked at, and what is wrong with them."""
    kernels = kernels_in(text)
    faults: list[str] = []
    looked_at = 0
    for line in expectations.splitlines():
        line = line.split("#")[0].strip()
        if not line:
            continue
        pattern, _, wanted = line.partition(":")
        matching = [name for name in kernels if re.fullmatch(pattern.strip(), name)]
        if not matching:
            faults.append(f"no kernel is called {pattern.strip()}")
        for name in matching:
            looked_at += 1
            faults += faults_in(name, kernels[name], [item.strip() for item in wanted.split(",")])
    return looked_at, faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("code", type=pathlib.Path, help="PTX or SASS")
    parser.add_argument("expectations", type=pathlib.Path)
    arguments = parser.parse_args()
    looked_at, faults = check(
        arguments.code.read_text(encoding="utf-8"), arguments.expectations.read_text(encoding="utf-8")
    )
    print("\n".join(faults + [f"{looked_at} kernels, {len(faults)} faults"]))
    return 1 if faults or not looked_at else 0


if __name__ == "__main__":
    sys.exit(main())

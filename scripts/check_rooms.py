#!/usr/bin/env python3
"""Holds the rooms of the tree apart: who includes whom (downwards only), and who may speak the machine's language.

Reads the `#include` lines of include/, src/, apps/, tools/ and examples/; a room's headers lie in include/sluice/ROOM/ or, where
they are its own affair, in src/ROOM/. Exit status 1 and one line for each include that goes up or sideways.
"""

from __future__ import annotations

import argparse
import pathlib
import re
import sys
from collections.abc import Iterator

# Whom each room builds on; it may include those and whatever they build on.
BUILDS_ON: dict[str, tuple[str, ...]] = {
    "base": (),
    "lane": ("base",),
    "nvme": ("base",),
    "memory": ("base",),
    "drive": ("nvme", "memory", "lane"),  # a grant of queues holds the doorbells that lanes ring
    "queue": ("lane", "nvme", "drive"),
    "cache": ("lane", "memory"),
    "array": ("cache", "queue"),
    "controller": ("drive", "nvme", "memory", "lane"),
    "emulator": ("controller",),  # one admin side for both
    "vfio": ("drive", "nvme", "memory", "lane"),
    "kmod": ("drive", "nvme", "memory", "lane"),
    "apps": ("array", "drive"),
    "tools": ("array", "drive", "apps", "emulator"),
    "examples": ("array", "drive"),
}

SUFFIXES = {".h", ".cuh", ".cc", ".cu", ".c"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"(?:sluice/)?(\w+)/')
# Only lane/ may name the compiler or the machine (design section 3).
MACHINE = re.compile(
    r"\b(__CUDACC__|__CUDA_ARCH__|threadIdx|blockIdx|blockDim|__shfl\w*|__ballot_sync|__syncwarp|asm\s+volatile)\b"
)


def reach(room: str) -> set[str]:
    """The room itself and everything below it."""
    found = {room}
    for below in BUILDS_ON[room]:
        found |= reach(below)
    return found


def room_of(path: pathlib.PurePath) -> str | None:
    """The room that a file of the tree belongs to; None where it belongs to none."""
    top, *rest = path.parts
    if top == "include":
        rest = rest[1:]
    elif top != "src":
        return top if top in BUILDS_ON else None
    return rest[0] if rest and rest[0] in BUILDS_ON else None


def faults_in(root: pathlib.Path, path: pathlib.Path) -> Iterator[str]:
    name = path.relative_to(root)
    room = room_of(name)
    if room is None:
        return
    allowed = reach(room)
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        found = INCLUDE.match(line)
        if found and found[1] in BUILDS_ON and found[1] not in allowed:
            yield f"{name}:{number}: {room} must not include {found[1]}"
        word = MACHINE.search(line.split("//")[0])
        if word and room != "lane" and path.suffix == ".h":
            yield f"{name}:{number}: only lane may say {word[1]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    root = parser.parse_args().root.resolve()
    files = [
        path
        for top in ("include", "src", "apps", "tools", "examples")
        for path in sorted((root / top).rglob("*"))
        if path.suffix in SUFFIXES
    ]
    faults = [fault for path in files for fault in faults_in(root, path)]
    print("\n".join(faults + [f"{len(files)} files, {len(faults)} faults"]))
    return 1 if faults or not files else 0


if __name__ == "__main__":
    sys.exit(main())

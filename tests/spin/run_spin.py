#!/usr/bin/env python3
"""Checks Promela models with Spin: each as it stands must hold, and each mutant that its header names must fail."""

from __future__ import annotations

import argparse
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77  # ctest's SKIP_RETURN_CODE


def errors(model: pathlib.Path, macros: list[str]) -> int:
    """How many errors Spin reports for the model with those macros defined."""
    with tempfile.TemporaryDirectory() as folder:
        define = [f"-D{macro}" for macro in macros]
        subprocess.run(["spin", *define, "-a", str(model.resolve())], cwd=folder, check=True, capture_output=True)
        optimize = "-O0" if macros else "-O1"  # a mutant fails before optimizing would pay
        build = ["cc", optimize, "-w", "-DSAFETY", "-DCOLLAPSE", "-DVECTORSZ=2048", "-o", "pan", "pan.c"]
        subprocess.run(build, cwd=folder, check=True, capture_output=True)
        search = subprocess.run(["./pan", "-m200000", "-w22"], cwd=folder, check=True, capture_output=True, text=True)
    report = search.stdout
    if "max search depth too small" in report or "out of memory" in report:
        raise RuntimeError(f"{model.name}: the search was cut short")
    found = re.search(r"errors: (\d+)", report)
    if found is None:
        raise RuntimeError(f"{model.name}: Spin said\n{report}")
    return int(found[1])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    for tool in ("spin", "cc"):
        if shutil.which(tool) is None:
            print(f"skipped: no {tool} here")
            return SKIPPED
    faults = 0
    for model in arguments.models:
        text = model.read_text(encoding="utf-8")
        mutants = re.findall(r"^ \* mutant: (\w+)[^(\n]*(?:\((\w+=\w+)\))?", text, re.M)
        for macros in [[], *([macro for macro in mutant if macro] for mutant in mutants)]:
            count = errors(model, macros)
            good = (count > 0) == bool(macros)
            faults += not good
            print(f"{'ok   ' if good else 'WRONG'} {model.name} {' '.join(macros) or 'as it stands'}: {count} errors")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Measures the bars of a machine with a GPU: bench_gpu.py SLUICE OUT.json [PART...], all parts or those that are named.

Each bar is one command under a time limit, repeated, and its median; ratios are to the bare limit that the same command measures.
SLUICE_COMMIT names the commit of the program where it was not built in this tree."""

import os
import sys

import bars as bars_file
import gpu_cache_bars
import gpu_emulator_bars
import gpu_spine_bars
from gpu_measure import run, sluice_io


def commit():
    if told := os.environ.get("SLUICE_COMMIT"):
        return told
    return run(["git", "rev-parse", "HEAD"]).strip()


def line(bar):
    return f"{bar['id']:20} {bar['value']:12.4g} {bar['bar']:10.4g}  {'yes' if bar['met'] else 'NO'}"


PARTS = {"spine": gpu_spine_bars.measure, **gpu_emulator_bars.PARTS, **gpu_cache_bars.PARTS}


def main(tool, out, *parts):
    if unknown := set(parts) - set(PARTS):
        sys.exit(f"bench-gpu: no part is called {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}")
    (first, *_), _ = sluice_io(tool, "mem:64MiB", seconds="0.1", rounds=1)
    print(f"{'bar':20} {'value':>12} {'sought':>10}  met")
    bars = []
    for name in parts or PARTS:
        for bar in PARTS[name](tool):
            bars.append(bar)
            print(line(bar), flush=True)
    return 0 if bars_file.write(out, commit(), first["machine"], bars) else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: bench_gpu.py SLUICE OUT.json [PART...]")
    sys.exit(main(*sys.argv[1:]))

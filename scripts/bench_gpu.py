#!/usr/bin/env python3
"""Measures the bars of a machine with a GPU: bench_gpu.py SLUICE OUT.json.

Each bar is one command under a time limit, repeated, and its median; ratios are to the bare limit that the same command measures.
SLUICE_COMMIT names the commit of the program where it was not built in this tree."""

import json
import os
import re
import shutil
import statistics
import subprocess
import sys

import bars as bars_file

ROUNDS = 3
LIMIT_S = 60  # of one command
THREADS_512 = "32768"  # commands in flight


def run(command):
    return subprocess.run(["timeout", str(LIMIT_S), *command], check=True, stdout=subprocess.PIPE, text=True).stdout


def sluice_io(tool, *options):
    command = [tool, "bench", "io", "--backend", "cuda", "--drive", "mem:1GiB", "--seconds", "1", "--json", *options]
    rounds = [json.loads(run(command)) for _ in range(ROUNDS)]
    for got in rounds:
        if not got["verified"] or got["commands_issued"] != got["commands_served"] + got["dropped"]:
            sys.exit("bench-gpu: a wrong answer from: " + " ".join(command))
    return rounds, " ".join(command)


def median_of(rounds, key):
    return statistics.median(got[key] for got in rounds)


def ratio_bar(name, bar, tool, *options):
    rounds, command = sluice_io(tool, *options)
    value = median_of(rounds, "ratio_to_bare")
    return {"id": name, "value": value, "unit": "of the bare limit", "bar": bar, "met": value >= bar, "command": command,
            "iops": median_of(rounds, "iops"), "bare_iops": statistics.median(got["bare"]["iops"] for got in rounds)}, rounds[0]


def rate_bar(name, bar, tool, *options):
    rounds, command = sluice_io(tool, *options)
    value = median_of(rounds, "iops")
    return {"id": name, "value": value, "unit": "commands/s", "bar": bar, "met": value >= bar, "command": command}


def register_bars(tool):
    """Registers of the I/O kernel on sm_90 by path, from the program's own resource listing."""
    if shutil.which("cuobjdump") is None:
        return []
    command = ["cuobjdump", "-arch", "sm_90", "--dump-resource-usage", tool]
    listing = run(command)
    bars = []
    for path, number, bar in (("peer", 1, 40), ("staged", 2, 64)):
        found = re.findall(r"Function \S*run_resident_kernel\S*io_kernel\S*pathE" + str(number)
                           + r"E\S*full_warp\S*io_checkE0E\S*:\s*\n\s*REG:(\d+) STACK:(\d+)",
                           listing)
        if not found:
            sys.exit(f"bench-gpu: the {path} I/O kernel is not in {tool}")
        registers, stack = int(found[0][0]), int(found[0][1])
        bars.append({"id": f"A7 {path}", "value": registers, "unit": "registers", "bar": bar,
                     "met": registers <= bar and stack == 0, "stack": stack, "command": " ".join(command)})
    return bars


def commit():
    if told := os.environ.get("SLUICE_COMMIT"):
        return told
    return run(["git", "rev-parse", "HEAD"]).strip()


def table(bars):
    yield f"{'bar':10} {'value':>12} {'sought':>10}  met"
    for bar in bars:
        yield f"{bar['id']:10} {bar['value']:12.4g} {bar['bar']:10.4g}  {'yes' if bar['met'] else 'NO'}"


def main(tool, out):
    small, first = ratio_bar("A3", 0.80, tool, "--controllers", "14", "--queues", "56", "--threads", THREADS_512)
    page, _ = ratio_bar("A4", 0.90, tool, "--controllers", "8", "--queues", "32", "--block", "4096", "--depth", "512",
                        "--threads", "32768")
    one = rate_bar("A5", 6e6, tool, "--controllers", "1", "--queues", "4")
    bars = [small, page, one, *register_bars(tool)]
    print("\n".join(table(bars)))
    return 0 if bars_file.write(out, commit(), first["machine"], bars) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: bench_gpu.py SLUICE OUT.json")
    sys.exit(main(*sys.argv[1:]))

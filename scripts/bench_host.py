#!/usr/bin/env python3
"""Measures the bars of a machine without a GPU: bench_host.py SLUICE OUT.json.

Every figure is the median of a few rounds. In a comparison each round of ours lies between two of theirs and is
divided by their mean, so that what else the machine does, and what it does more and more, falls on both."""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

import bars as bars_file

ROUNDS = 9  # the machines are noisy, and so are their drives
SECONDS = 3
LIMIT_S = 300  # of one command
GIB = 1 << 30
SPARE_BYTES = 2 * GIB  # left free beside the test file
DEPTH, JOBS, BLOCK = 64, 1, 4096  # a job is a thread that submits: fio's, or the lanes'
CPU_BOUND_SHARE = 0.9  # of a core, from which fio counts as bound by the CPU


def run(command):
    return subprocess.run(command, check=True, timeout=LIMIT_S, stdout=subprocess.PIPE, text=True).stdout


def sluice_io(tool, drive, *more):
    command = [tool, "bench", "io", "--backend", "cpu", "--drive", drive, "--seconds", str(SECONDS), "--json", *more]
    got = json.loads(run(command))
    if not got["verified"]:
        sys.exit("bench-host: blocks were wrong: " + " ".join(command))
    return {"iops": got["iops"], "cores": got["cpu_seconds"] / got["seconds"], "machine": got["machine"],
            "command": " ".join(command)}


def fio(path):
    command = ["fio", "--name=randread", "--filename=" + path, "--readonly", "--rw=randread", f"--bs={BLOCK}",
               "--ioengine=io_uring", "--direct=1", f"--iodepth={DEPTH}", f"--numjobs={JOBS}", "--norandommap",
               "--time_based", f"--runtime={SECONDS}", "--output-format=json"]
    job = json.loads(run(command))["jobs"][0]
    return {"iops": job["read"]["iops"], "cores": (job["usr_cpu"] + job["sys_cpu"]) / 100, "command": " ".join(command)}


def make_stamped_file(tool, folder):
    free = shutil.disk_usage(folder).free
    if free < GIB + SPARE_BYTES:
        sys.exit(f"bench-host: {folder} has {free >> 20} MiB free, and the test file needs {(GIB + SPARE_BYTES) >> 20}")
    path = os.path.join(folder, "stamped.bin")
    run([tool, "bench", "io", "--backend", "cpu", "--drive", f"file:{path}?size={GIB}", "--block", str(BLOCK),
         "--destroy", "--seconds", "0.1", "--json"])
    with open(path, "rb") as made:
        os.fsync(made.fileno())
    return path


def memory_bar(tool):
    rounds = [sluice_io(tool, "mem:1GiB", "--block", "512") for _ in range(ROUNDS)]
    value = statistics.median(each["iops"] for each in rounds)
    return {"id": "A1", "value": value, "unit": "commands/s", "bar": 0.5e6, "met": value >= 0.5e6,
            "command": rounds[0]["command"],
            "cores": statistics.median(each["cores"] for each in rounds)}, rounds[0]["machine"]


def file_bar(tool, folder):
    path = make_stamped_file(tool, folder)
    ours, theirs = [], [fio(path)]
    for _ in range(ROUNDS):
        ours.append(sluice_io(tool, "file:" + path, "--block", str(BLOCK), "--queues", str(JOBS), "--depth",
                              str(2 * DEPTH), "--threads", str(DEPTH), "--cpu-threads", str(JOBS)))
        theirs.append(fio(path))
    ratios = [mine["iops"] / statistics.mean((before["iops"], after["iops"]))
              for before, mine, after in zip(theirs, ours, theirs[1:])]
    fio_cores = statistics.median(each["cores"] for each in theirs)
    cpu_bound = fio_cores >= CPU_BOUND_SHARE
    bar = 0.9 if cpu_bound else 0.95
    value = statistics.median(ratios)
    return {"id": "A2", "value": value, "unit": "of fio's rate", "bar": bar, "met": value >= bar,
            "command": ours[0]["command"], "comparator": theirs[0]["command"],
            "bound_by": "cpu" if cpu_bound else "disk",
            "iops": statistics.median(each["iops"] for each in ours),
            "fio_iops": statistics.median(each["iops"] for each in theirs), "ratios": ratios,
            "cores": statistics.median(each["cores"] for each in ours), "fio_cores": fio_cores}


def commit():
    head = run(["git", "rev-parse", "HEAD"]).strip()
    return head + ("-dirty" if run(["git", "status", "--porcelain", "--untracked-files=no"]).strip() else "")


def table(bars):
    yield f"{'bar':4} {'value':>12} {'sought':>10} met  cores"
    for bar in bars:
        yield f"{bar['id']:4} {bar['value']:12.4g} {bar['bar']:10.4g} {'yes' if bar['met'] else 'NO ':3}  {bar['cores']:.2f}"
        if "fio_iops" in bar:
            yield (f"     {bar['iops']:.0f} commands/s where fio has {bar['fio_iops']:.0f} on {bar['fio_cores']:.2f} cores;"
                   f" bound by the {bar['bound_by']}")


def main(tool, out):
    memory, machine = memory_bar(tool)
    with tempfile.TemporaryDirectory(prefix="bench-host-", dir=os.path.dirname(out)) as folder:
        bars = [memory, file_bar(tool, folder)]
    print("\n".join(table(bars)))
    return 0 if bars_file.write(out, commit(), machine, bars) else 1


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: bench_host.py SLUICE OUT.json")
    sys.exit(main(*sys.argv[1:]))

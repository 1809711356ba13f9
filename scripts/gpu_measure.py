"""One measurement of a GPU bar: a command under a time limit, repeated, and its median."""

import json
import statistics
import subprocess
import sys

ROUNDS = 3
LIMIT_S = 60  # of one command


def run(command):
    return subprocess.run(["timeout", str(LIMIT_S), *command], check=True, stdout=subprocess.PIPE, text=True).stdout


def sluice_io(tool, drive, *options, seconds="1", rounds=ROUNDS):
    """Runs `bench io`; returns what each round printed, and the command line. Ends the program where an answer is wrong."""
    command = [tool, "bench", "io", "--backend", "cuda", "--drive", drive, "--seconds", seconds, "--json", *options]
    results = [json.loads(run(command)) for _ in range(rounds)]
    for got in results:
        if not got["verified"] or got["commands_issued"] != got["commands_served"] + got["dropped"]:
            sys.exit("bench-gpu: a wrong answer from: " + " ".join(command))
    return results, " ".join(command)


def median_of(rounds, key):
    return statistics.median(got[key] for got in rounds)


def bar_of(name, value, unit, bar, command, met=None, **more):
    """At least `bar` is sought, unless `met` says otherwise."""
    return {"id": name, "value": value, "unit": unit, "bar": bar, "met": value >= bar if met is None else met, "command": command,
            **more}


def ratio_bar(name, bar, tool, drive, *options, **how):
    rounds, command = sluice_io(tool, drive, *options, **how)
    return bar_of(name, median_of(rounds, "ratio_to_bare"), "of the bare limit", bar, command, iops=median_of(rounds, "iops"),
                  bare_iops=statistics.median(got["bare"]["iops"] for got in rounds))


def rate_bar(name, bar, tool, drive, *options, **how):
    rounds, command = sluice_io(tool, drive, *options, **how)
    return bar_of(name, median_of(rounds, "iops"), "commands/s", bar, command)

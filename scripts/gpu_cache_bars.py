"""The bars of the cache and the array: what a hit costs, how fast misses come, and what eviction leaves of the link."""

import json
import re
import shutil
import statistics
import sys

from gpu_measure import bar_of, run, sluice_io

QUEUES = ("--queues", "256", "--depth", "1024")
MANY_QUEUES = ("--queues", "512", "--depth", "1024")
GPU_4GIB = "emu:ideal?media=gpu&size=4GiB&sms=16"
HOST_4GIB = "emu:ideal?media=host&size=4GiB&sms=32"
HOST_4GIB_48 = "emu:ideal?media=host&size=4GiB&sms=48"  # small blocks keep more residents busy


def sluice_cache(tool, drive, *options, queues=QUEUES):
    """Runs `bench cache`; returns what it printed, and the command line. Ends the program where an answer is wrong."""
    command = [tool, "bench", "cache", "--backend", "cuda", "--drive", drive, "--json", *queues, *options]
    got = json.loads(run(command))
    if not got["verified"] or got["commands_issued"] != got["commands_served"] + got["dropped"]:
        sys.exit("bench-gpu: a wrong answer from: " + " ".join(command))
    return got, " ".join(command)


def time_bar(name, most, got, command):
    value = 1 / got["ratio_to_bare"]
    return bar_of(name, value, "times bare", most, command, met=value <= most, per_second=got["iops"],
                  bare_per_second=got["bare"]["iops"])


def hits(tool):
    """All pages resident, in a cache of 1.25 times the data."""
    resident = ("--cache", "5GiB", "--state", "hot")
    times = {"C1": ("load", 4, 1.35), "C3": ("loop", 4, 3.0), "C4": ("store", 4, 1.5)}
    for name, (access, element, most) in times.items():
        got, command = sluice_cache(tool, GPU_4GIB, *resident, "--access", access, "--element", str(element))
        yield time_bar(name, most, got, command)
    for name, access, least in (("C2", "walk", 0.84), ("C2 span", "span", 0)):
        got, command = sluice_cache(tool, GPU_4GIB, *resident, "--access", access, "--element", "4")
        yield bar_of(name, got["ratio_to_bare"], "of bare", least, command, bytes_per_s=got["bytes_per_s"])


def link_limit(tool, block, *options):
    """Commands a second that the link carries of blocks of this size all over the drive, by the SMs' own loads and stores."""
    rounds, _ = sluice_io(tool, HOST_4GIB, "--span", "4GiB", "--block", str(block), "--queues", "512", "--threads", "32768", *options, seconds="0.3")
    return statistics.median(got["bare"]["iops"] for got in rounds)


def misses(tool):
    """From an empty cache that holds all."""
    bars = (("C5", "pages", HOST_4GIB, 4096, 0.95), ("C6", "pages", HOST_4GIB_48, 512, 0.85), ("C11", "gather", HOST_4GIB, 512, 0.90))
    for name, access, drive, page, least in bars:
        got, command = sluice_cache(tool, drive, "--cache", "5GiB", "--page", str(page), "--access", access, "--element", "4",
                                    "--threads", "65536", queues=MANY_QUEUES)
        limit = link_limit(tool, page)
        loaded = got["commands_issued"] / got["accesses"] * got["iops"]  # rows are drawn: some of them twice
        yield bar_of(name, loaded / limit, "of the link", least, command, per_second=got["iops"], limit_per_second=limit)
    got, command = sluice_cache(tool, "emu:ideal?media=gpu&size=8GiB&sms=64", "--cache", "9GiB", "--access", "pages", "--element", "4",
                                "--threads", "65536", queues=MANY_QUEUES)
    yield bar_of("C7", got["iops"], "pages/s", 100e6, command)


def eviction(tool):
    """A cache of a tenth of the data, uniform accesses."""
    small = ("--cache", "410MiB", "--accesses", "16000000", "--threads", "32768")
    got, command = sluice_cache(tool, HOST_4GIB, *small)
    loaded = got["iops"] * (1 - got["hit_rate"])
    limit = link_limit(tool, 4096)
    yield bar_of("C8", loaded / limit, "of the link", 0.85, command, accesses_per_s=got["iops"], limit_per_second=limit)
    got, command = sluice_cache(tool, HOST_4GIB, *small, "--mix", "0.25")
    moved = (got["commands_issued"] / got["accesses"]) * got["iops"]
    limit = link_limit(tool, 4096, "--mix", "0.2")
    yield bar_of("C8 writes", moved / limit, "of the link, both ways", 0.70, command, accesses_per_s=got["iops"], limit_per_second=limit)


def vector_add(tool):
    command = [tool, "bench", "vector-add", "--backend", "cuda", "--elements", "256M", "--type", "f32", "--drive", HOST_4GIB, "--cache",
               "307MiB", "--page", "32KiB", "--threads", "16384", "--comparators=copy-engine", "--json", *QUEUES]
    got = json.loads(run(command))
    tiling = next(other for other in got["comparators"] if other["name"] == "copy-engine")
    value = got["bytes_per_s"] / tiling["bytes_per_s"]
    yield bar_of("C9", value, "of copy-engine tiling", 0.85, " ".join(command), bytes_per_s=got["bytes_per_s"],
                 tiling_bytes_per_s=tiling["bytes_per_s"])


def overlap(tool):
    got, command = sluice_cache(tool, HOST_4GIB, "--cache", "5GiB", "--access", "overlap")
    yield bar_of("C10", got["ratio_to_bare"], "times plain reads", 1.8, command, per_second=got["iops"])


def registers(tool):
    """Of kernels that index an array, from the program's own resource listing."""
    if shutil.which("cuobjdump") is None:
        return
    command = ["cuobjdump", "-arch", "sm_90", "--dump-resource-usage", tool]
    listing = run(command)
    for name, pattern, most in (("C12 random reads", r"pass_kernelINS_9array_refIj\S*random_loads", 48), ("C12 vector_add", r"vector_add\S*array_ref", 64)):
        found = re.findall(r"Function \S*run_resident_kernel\S*" + pattern + r"\S*:\s*\n\s*REG:(\d+) STACK:(\d+)", listing)
        if not found:
            sys.exit(f"bench-gpu: the kernel of {name} is not in {tool}")
        most_used = max(int(registers) for registers, _ in found)
        yield bar_of(name, most_used, "registers", most, " ".join(command), met=most_used <= most, stack=[int(stack) for _, stack in found])


def modes(tool):
    """What each mode gains over the one before, where few pages are popular, as in a search from a hub of a graph."""
    rates = {}
    for mode in ("none", "naive", "optimized"):
        got, command = sluice_cache(tool, HOST_4GIB, "--cache", "410MiB", "--pattern", "zipf", "--mode", mode, "--accesses", "8000000",
                                    "--threads", "32768")
        rates[mode] = got["iops"]
    gain = min(rates["naive"] / rates["none"], rates["optimized"] / rates["naive"])
    yield bar_of("C13", rates["optimized"] / rates["none"], "times mode none", 0, command, met=gain > 1, rates=rates)


PARTS = {part.__name__: part for part in (hits, misses, eviction, vector_add, overlap, registers, modes)}

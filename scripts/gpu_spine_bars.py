"""The bars of raw I/O through software controllers, and of the I/O kernel's registers."""

import re
import shutil
import sys

from gpu_measure import bar_of, rate_bar, ratio_bar, run

DRIVE = "mem:1GiB"
THREADS_512 = "32768"  # commands in flight


def register_bars(tool):
    """Registers of the I/O kernel on sm_90 by path, from the program's own resource listing."""
    if shutil.which("cuobjdump") is None:
        return []
    command = ["cuobjdump", "-arch", "sm_90", "--dump-resource-usage", tool]
    listing = run(command)
    bars = []
    for path, number, bar in (("peer", 1, 40), ("staged", 2, 64)):
        found = re.findall(r"Function \S*run_resident_kernel\S*io_kernel\S*pathE" + str(number)
                           + r"E\S*full_warp\S*io_checkE0E\S*io_flightE0E\S*:\s*\n\s*REG:(\d+) STACK:(\d+)",
                           listing)
        if not found:
            sys.exit(f"bench-gpu: the {path} I/O kernel is not in {tool}")
        registers, stack = int(found[0][0]), int(found[0][1])
        bars.append(bar_of(f"A7 {path}", registers, "registers", bar, " ".join(command), met=registers <= bar and stack == 0,
                           stack=stack))
    return bars


def measure(tool):
    yield ratio_bar("A3", 0.80, tool, DRIVE, "--controllers", "14", "--queues", "56", "--threads", THREADS_512)
    yield ratio_bar("A4", 0.90, tool, DRIVE, "--controllers", "8", "--queues", "32", "--block", "4096", "--depth", "512",
                    "--threads", "32768")
    yield rate_bar("A5", 6e6, tool, DRIVE, "--controllers", "1", "--queues", "4")
    yield from register_bars(tool)

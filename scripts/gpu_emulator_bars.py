"""The bars of emulated drives: how far queues and link carry, and how well models keep time."""

import json

from gpu_measure import bar_of, rate_bar, ratio_bar, run, sluice_io

SHORT = {"seconds": "0.5"}
ONE_GIB_512 = ("--queues", "256", "--threads", "32768")
# Of each model's drive, commands a second of 512 B reads, and the latency of one alone, us (docs/emulator.md).
MODELS = {"p5800x": (5.1e6, 11), "pm1735": (1.1e6, 25), "980pro": (750e3, 324), "pm1753": (61.7e6 / 16, 60),
          "storage-next": (100e6, 10)}


def speed_of_light(tool):
    yield rate_bar("B1", 1.2e9, tool, "emu:ideal?sms=64", "--queues", "1024", **SHORT)
    yield rate_bar("B2", 310e6, tool, "emu:ideal?sms=72", "--queues", "1024", "--block", "4096", **SHORT)
    yield rate_bar("B3", 215e6, tool, "emu:ideal?sms=64", "--queues", "128", **SHORT)


def over_the_link(tool):
    host = "emu:ideal?media=host&sms="
    yield ratio_bar("B4", 0.95, tool, host + "16", *ONE_GIB_512, **SHORT)
    yield fewest_processors(tool, host)
    yield ratio_bar("B5", 0.99, tool, host + "32", "--queues", "512", "--block", "4096", "--threads", "32768", **SHORT)
    yield rate_bar("B6", 70e6, tool, "emu:ideal?media=host&size=8GiB&sms=16&region=256MiB", *deep_over("8GiB"), **SHORT)
    # The bare limit is measured over 8 GiB, where it is higher than over 64.
    yield ratio_bar("B7", 0.95, tool, "emu:ideal?media=host&size=64GiB&sms=16&region=512MiB", *deep_over("64GiB"), seconds="0.5",
                    rounds=1)
    writes = ("--mix", "1", "--queues", "256", "--threads", "16384")
    yield ratio_bar("B11 512", 0.93, tool, host + "16", *writes, **SHORT)
    yield ratio_bar("B11 4096", 0.93, tool, host + "16", *writes, "--block", "4096", **SHORT)


def deep_over(span):
    return ("--span", span, "--queues", "256", "--depth", "4096", "--threads", "118784", "--a-lane", "8")


def fewest_processors(tool, host):
    """SMs for residents with which nine tenths of the bare limit are still reached."""
    for sms in range(1, 33):
        rounds, command = sluice_io(tool, host + str(sms), *ONE_GIB_512, seconds="0.3", rounds=1)
        if rounds[0]["ratio_to_bare"] >= 0.9:
            break
    return bar_of("B4 SMs", sms, "SMs", 32, command, met=sms <= 32)


def many_drives(tool):
    each = 5.1e6
    rates = {}
    for count in (1, 2, 5, 10):
        rounds, command = sluice_io(tool, f"emu:p5800x?size=64MiB&sms=2&count={count}", "--queues", "16", "--threads",
                                    str(2048 * count), seconds="0.5", rounds=1)
        rates[count] = rounds[0]["iops"]
    off = abs(rates[10] / (10 * each) - 1)
    bent = max(abs(rate / count / rates[1] - 1) for count, rate in rates.items())
    yield bar_of("B8", rates[10], "commands/s", 51e6, command, met=off <= 0.02, off=off)
    yield bar_of("B8 linear", bent, "off the line", 0.02, command, met=bent <= 0.02, rates=rates)


def own_way_us(tool, drive, rate, lanes):
    """What lanes, and answers one after the other, take of a round themselves: the rest of a round to a drive of the same rate and
    another latency. Lanes that would keep that drive half busy wait for its rate too; then it is what one warp takes. (Not from a drive
    that answers at once: its answers fall due while it is still busy with their commands.)"""
    other_latency = 50

    def round_of(count):
        queues = ("--queues", str(max(1, min(256, count // 32))), "--threads", str(count))
        (got, *_), _ = sluice_io(tool, f"{drive}&latency_us={other_latency}", *queues, seconds="0.2", rounds=1)
        return got["iops"], got["config"]["lanes"] / got["iops"] * 1e6 - other_latency

    iops, taken = round_of(lanes)
    return taken if lanes <= 32 or iops < rate / 2 else round_of(32)[1]


def keeping_time(tool):
    """A command alone against the model, and rates at three depths against what the model predicts."""
    worst_latency, worst_rate, details = 0, 0, {}
    for name, (rate, latency) in MODELS.items():
        knee = rate * latency / 1e6
        depths = [1, max(32, 32 * round(knee / 64)), max(64, 32 * round(knee / 8))]
        for depth in depths:
            drive = f"emu:{name}?size=64MiB&sms={16 if rate > 10e6 else 2}"
            queues = ("--queues", str(max(1, min(256, depth // 32))), "--threads", str(depth))
            own_way = own_way_us(tool, drive, rate, depth)
            (got, *_), command = sluice_io(tool, drive, *queues, seconds="0.5", rounds=1)
            lanes = got["config"]["lanes"]
            predicted = min(rate, lanes / (latency + own_way) * 1e6)
            alone = got["latency_us"]["alone"]
            details[f"{name} x {lanes}"] = {"alone_us": alone, "own_way_us": own_way, "iops": got["iops"], "predicted": predicted}
            worst_latency = max(worst_latency, abs(alone / latency - 1))
            worst_rate = max(worst_rate, abs(got["iops"] / predicted - 1))
    yield bar_of("B9 latency", worst_latency, "off the model", 0.05, command, met=worst_latency <= 0.05, details=details)
    yield bar_of("B9 rate", worst_rate, "off the model", 0.03, command, met=worst_rate <= 0.03)


def few_lanes(tool):
    """Lanes that bring one P5800X to nine tenths: with one command each, eight of a warp or whole warps, and whole warps with two each."""
    ways = {"8 of a warp": ("--a-warp", "8"), "whole warps": (), "whole warps, 2 commands each": ("--a-lane", "2")}
    needed = {}
    for way, words in ways.items():
        step = 8 if "--a-warp" in words else 32
        for lanes in range(64, 513, step):
            rounds, command = sluice_io(tool, "emu:p5800x?size=64MiB", "--queues", "4", "--threads", str(lanes), *words, seconds="0.2", rounds=1)
            if rounds[0]["iops"] >= 0.9 * 5.1e6:
                break
        needed[way] = lanes
        if lanes == min(needed.values()):
            fewest = command
    yield bar_of("B10 lanes", min(needed.values()), "lanes", 128, fewest, met=min(needed.values()) <= 128, needed=needed)


def plans_kept(tool):
    """What plans promise against what emulated drives measure."""
    ratios = []
    for wanted in (("--accesses", "20M", "--drive-model", "p5800x"), ("--saturate", "26", "--drive-model", "p5800x"),
                   ("--accesses", "2M", "--drive-model", "980pro")):
        command = [tool, "plan", *wanted, "--verify", "--backend", "cuda", "--json"]
        ratios.append(json.loads(run(command))["verified"]["ratio"])
    off = max(abs(ratio - 1) for ratio in ratios)
    yield bar_of("plans", off, "off the promise", 0.05, " ".join(command), met=off <= 0.05, ratios=ratios)


def compared(tool):
    """The same blocks by other ways: zero-copy loads, the copy engine, managed memory, cuFile, io_uring, pages that CPU threads serve."""
    for block, lanes in (("512", "32768"), ("4096", "32768"), ("65536", "8192"), ("1MiB", "8192")):
        (got, *_), command = sluice_io(tool, "emu:ideal?media=host&size=1GiB&sms=32", "--queues", "256", "--depth", "256", "--block", block,
                                       "--threads", lanes, "--comparators", seconds="0.5", rounds=1)
        others = {other.pop("name"): other for other in got["comparators"]}
        yield bar_of("compared " + block, got["bytes_per_s"] / 1e9, "GB/s", 0, command, ratio_to_bare=got["ratio_to_bare"],
                     comparators=others, missing=got["comparators_missing"])


PARTS = {part.__name__: part for part in (speed_of_light, over_the_link, many_drives, keeping_time, few_lanes, plans_kept, compared)}

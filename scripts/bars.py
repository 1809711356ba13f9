"""Bars that a script measured, and the file that keeps them."""

import datetime
import json


def write(out, commit, machine, bars):
    """Writes {commit, machine, date, bars} to `out`. True where every bar is met."""
    date = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    with open(out, "w", encoding="utf-8") as to:
        json.dump({"commit": commit, "machine": machine, "date": date, "bars": bars}, to, indent=1)
        to.write("\n")
    return all(bar["met"] for bar in bars)

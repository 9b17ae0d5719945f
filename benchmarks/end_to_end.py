"""A process of its own: run one campaign's mechanism, and say how much memory that took: `benchmarks.end_to_end FILE`.

With --passes it times the parts instead: reading alone, the moments, the payments, the shares.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.memory import peak_mb
from confide.campaign import Campaign
from confide.privacy.noise import Noise


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("file", type=Path)
    parser.add_argument("--passes", action="store_true")
    wanted = parser.parse_args()
    campaign = Campaign.load(wanted.file)
    json.dump(passes(campaign) if wanted.passes else whole(campaign), sys.stdout)


def whole(campaign: Campaign) -> dict[str, float]:
    """The mechanism's run with secure noise, from the file to an outcome and all shares in a folder; no store."""
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        outcome = campaign.plan.mechanism.run(campaign.collect().data, Noise.secure())
        outcome.save(Path(folder) / "out")
        seconds = time.perf_counter() - start
        written = sum(path.stat().st_size for path in Path(folder).rglob("*") if path.is_file())
        people = outcome.shares.num_rows
    return {"seconds": seconds, "peak_mb": peak_mb(), "written_mb": written / 1e6, "people": people}


def passes(campaign: Campaign) -> dict[str, float]:
    """Seconds of each part."""
    import numpy as np
    import pyarrow as pa

    from confide.contract.encoding import column_bytes
    from confide.regression import PrivateTruthfulRegression
    from confide.regression.records import as_batches, moments

    mechanism = campaign.plan.mechanism
    if not isinstance(mechanism, PrivateTruthfulRegression):
        raise SystemExit("this is no regression")
    setting, data = mechanism.setting, campaign.collect().data
    seconds: dict[str, float] = {}
    clock = time.perf_counter()

    def lap(name: str) -> None:
        nonlocal clock
        seconds[name], clock = time.perf_counter() - clock, time.perf_counter()

    split = Noise.secure().split(setting.people, stream=("split",))
    lap("split")
    for _ in data:
        pass
    lap("reading and coding alone")
    moments(as_batches(data, setting.features), setting.record_map, split, setting.features)
    lap("first pass: reading, coding, moments")
    shares = mechanism._pay(as_batches(data, setting.features), split, np.zeros((2, setting.features)))
    lap("second pass: reading, coding, payments")
    with tempfile.TemporaryFile() as file:
        file.write(column_bytes(pa.table({"payment": shares})))
    lap("shares to bytes to disk")
    return seconds


if __name__ == "__main__":
    main()

"""A process of its own: `settle CAMPAIGN URL FOLDER`, or `debit SUBJECTS URL FOLDER`; prints seconds and memory."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.memory import peak_mb
from confide.campaign import Campaign, Store, settle
from confide.campaign.store import Charge
from confide.contract import Audience, Relation
from confide.privacy import Account, PureDP, PureEvent
from confide.regression import PrivateTruthfulRegression


def settled(path: str, url: str, folder: str) -> dict[str, float]:
    """A whole settlement, and the stored outcome asked for again."""
    inside = 0.0
    run = PrivateTruthfulRegression.run

    def timed(self: PrivateTruthfulRegression, data: Any, noise: Any) -> Any:
        nonlocal inside
        start = time.perf_counter()
        outcome = run(self, data, noise)
        inside += time.perf_counter() - start
        return outcome

    PrivateTruthfulRegression.run = timed  # type: ignore[assignment, method-assign]
    campaign = Campaign.load(path)
    campaign.plan  # noqa: B018 - not part of a settlement
    with Store(url) as store:
        start = time.perf_counter()
        settle(campaign, store, Path(folder) / "out")
        whole = time.perf_counter() - start
        start = time.perf_counter()
        settle(campaign, store, Path(folder) / "out")
        again = time.perf_counter() - start
    return {"all": whole, "mechanism": inside, "again": again, "peak_mb": peak_mb()}


def debited(number: str, url: str, folder: str) -> dict[str, float]:
    """Two campaigns on the same people; the second finds all accounts there."""
    account = Account(name="people", neighbours=Relation.REPLACE, audience=Audience.PUBLIC)
    subjects = [str(rank) for rank in range(1, int(number) + 1)]
    one = PureEvent(epsilon=0.1, neighbours=Relation.REPLACE)
    charge = Charge(account=account, events=(one,), delta=0.0, budget=PureDP(1.0), subject_budget=PureDP(1.0),
                    subjects=subjects)
    seconds = []
    template = (Path(__file__).resolve().parent.parent / "examples" / "wages.toml").read_text(encoding="utf-8")
    with Store(url) as store:
        for title in ("first", "second"):
            path = Path(folder) / f"{title}.toml"
            path.write_text(template.replace("title = \"", f"title = \"{title}: "), encoding="utf-8")
            known = store.open(Campaign.load(path).file, len(subjects))
            store.close_collection(known.number)
            start = time.perf_counter()
            store.charge(known.number, charge)
            seconds.append(time.perf_counter() - start)
    return {"first": seconds[0], "second": seconds[1], "peak_mb": peak_mb()}


if __name__ == "__main__":
    job = {"settle": settled, "debit": debited}[sys.argv[1]]
    json.dump(job(*sys.argv[2:]), sys.stdout)

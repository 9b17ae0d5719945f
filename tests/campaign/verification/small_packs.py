"""The smallest settled campaign of every kind, made once a process: what is tampered with."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from campaign.small import write as write_regression
from confide.campaign import Campaign, Home, Store
from people import all_kinds

__all__ = ["KINDS", "files_of", "signing_key"]

_BITS = """\
format = 1
kind = "{kind}"
title = "Does the new schedule make people ill?"

[budget]
data_set = "ill since may"
epsilon = 3.0

[people]
count = 80
id = "id"

[data]
source = "rows.csv"

[bit]
question = "Have you been ill since May?"
column = "report"
one = "yes"
zero = "no"
{belief}
[payment]
currency = "EUR"
minor_units = 100
"""
_STATE = """
[state]
prior_one = 0.5
signal_accuracy = 0.8
"""
_COST = """
[cost]
law = "linear"
rate = 0.5

[privacy]
epsilon = 1.0
"""
_COSTS = """
[costs]
law = "lognormal"
meanlog = 0.0
sdlog = 1.0

[participation]
share = 0.2

[privacy]
epsilon = 1.5
ceiling = 3.0
"""
_MOST = "most = 500.0\n"
_GOODS = """\
format = 1
kind = "{kind}"
title = "Who gets which tool 1e12?"

[budget]
data_set = "wishes of helpers"
epsilon = 61.0

[people]
count = 70
id = "id"

[goods]
names = ["drill 1e9", "saw", "ladder"]
supply = 25

[values]
scale = "points"
highest = 5

[data]
source = "rows.csv"

[privacy]
epsilon = 60.0
gamma = 0.05

[auction]
increment = 0.25
rounds = 3
bid_cap = 2
"""
_MEAN = """\
format = 1
kind = "mean"
title = "How many hours do nurses work?"

[budget]
data_set = "hours of nurses, week 12"
epsilon = 500.0
delta = 1e-6
rule = "zcdp"

[people]
count = 15
id = "id"

[record]
question = "How many hours did you work last week?"
column = "record"
low = 0
high = 80
unit = "hours"
variance = 150

[reports]
source = "concerns.csv"
column = "concern"

[contracts]
file = "contracts.json"

[data]
source = "rows.csv"

[belief]
law = "uniform"

[price]
error = 4.0
nat = 5.0
known = 30.0

[privacy]
largest_local_loss = 25.0
order = 2.0
psi_floor = 0.25
approximation = 0.001

[payment]
currency = "EUR"
minor_units = 100
"""
_PROGRAM = """\
format = 1
kind = "program"
title = "Places in evening classes"

[budget]
data_set = "class wishes"
epsilon = 20.0
delta = 1e-3

[program]
family = "unit-demand"
goods = ["pottery", "spanish", "chess"]
supply = [30, 25, 35]

[people]
count = 120
id = "id"

[values]
lowest = 0
highest = 10

[data]
source = "rows.csv"

[privacy]
epsilon = 20.0
delta = 1e-3

[solution]
mode = "audited"
alpha = 0.5
rounds = 20
burn_in = 10
"""
_QUERIES = """\
format = 1
kind = "queries"
title = "Who smokes, and who owns a house?"

[budget]
data_set = "household survey"
epsilon = 6.0
delta = 3e-6

[data]
source = "rows.csv"
records = 200

[[columns]]
column = "age"
lower = 0
upper = 100
bins = 4
unit = "years"

[[columns]]
column = "smoker"
bit = true

[workload]
form = "listed"
queries = [["smoker"], ["not smoker"], ["smoker", "age in [0, 25)"]]

[privacy]
epsilon = 5.0

[method]
name = "laplace"
"""
_SEARCH = """\
format = 1
kind = "search"
title = "Who else is infected?"

[budget]
data_set = "contacts"
epsilon = 4.0
delta = 1e-6

[graph]
source = "rows.csv"
people = 16

[search]
seeds = [0]
components = 3
stopping_target = 3
stop = "private"

[privacy]
epsilon = 1.0
degree_bound = 5

[oracle]
source = "answers.csv"
"""
_CONTACTS = "0-1 0-2 1-14 2-14 0-14 5-6 6-15 1-3 3-5 3-7 0-4 4-5 4-6 2-8 8-9 8-11 14-13 7-9 7-10 10-6 10-12"


def _csv(path: Path, head: str, rows: Sequence[Sequence[object]]) -> None:
    path.write_text("\n".join([head, *(",".join(map(str, row)) for row in rows)]) + "\n")


def _bits(folder: Path) -> None:
    _csv(folder / "rows.csv", "id,report", [(k, "yes" if k % 3 else "no") for k in range(1, 81)])


def _wishes(people: int, goods: Sequence[str], highest: int) -> Callable[[Path], None]:
    def make(folder: Path) -> None:
        rows = [(k, *((k * (7 + 4 * good)) % (10 * highest + 1) / 10 for good in range(len(goods))))
                for k in range(1, people + 1)]
        _csv(folder / "rows.csv", ",".join(["id", *goods]), rows)

    return make


def _survey(folder: Path) -> None:
    _csv(folder / "rows.csv", "age,smoker", [(k * 7 % 100, int(k % 4 == 0)) for k in range(200)])


def _contacts(folder: Path) -> None:
    _csv(folder / "rows.csv", "first,second", [each.split("-") for each in _CONTACTS.split()])
    _csv(folder / "answers.csv", "id,targeted", [(k, int(k in (0, 1, 2, 14, 5, 6, 15, 9))) for k in range(16)])


def _concerns(folder: Path) -> None:
    _csv(folder / "concerns.csv", "id,concern", [(k, round(0.05 + 0.06 * k, 3)) for k in range(1, 16)])


def _play(it: Campaign, folder: Path, home: Home, store: Store) -> None:
    """Contracts, and the record that everybody's device draws on hers."""
    it.draw_up(home=home)
    it.finish_contracts(home=home, store=store)
    rows = [it.submit(k, {"record": f"{80 * k / 20:.2f}"}, contract=it.contract(k, home=home).token, total=1e3,
                      key=home.fingerprint, largest=1e3, home=home) for k in range(1, 16)]
    _csv(folder / "rows.csv", ",".join(rows[0]), [list(row.values()) for row in rows])


_MADE: dict[str, tuple[str, Callable[[Path], None]]] = {
    "bits": (_BITS.format(kind="bits", belief=_STATE + _COST) + _MOST, _bits),
    "bits-pair": (_BITS.format(kind="bits-pair", belief=f"\n[belief]\nbeta = [2, 3]\n{_COST}").replace(
        "epsilon = 1.0", "epsilon = 1.5") + _MOST, _bits),
    "bits-unknown-costs": (_BITS.format(kind="bits-unknown-costs", belief=_STATE + _COSTS), _bits),
    "bundles": (_GOODS.format(kind="bundles").replace("[values]", '[bundles]\nclass = "unit-demand"\n\n[values]'),
                _wishes(70, ("drill 1e9", "saw", "ladder"), 5)),
    "matching": (_GOODS.format(kind="matching").replace("[auction]", '[auction]\nmethod = "auction"'),
                 _wishes(70, ("drill 1e9", "saw", "ladder"), 5)),
    "mean": (_MEAN, _concerns),
    "program": (_PROGRAM, _wishes(120, ("pottery", "spanish", "chess"), 10)),
    "queries": (_QUERIES, _survey),
    "search": (_SEARCH, _contacts),
}
_SOONEST = ("search", "bits-pair", "matching", "queries")
KINDS = (*_SOONEST, *(each for each in all_kinds.KINDS if each not in _SOONEST))
"""Those first whose packs are made and verified soonest."""


@cache
def _home() -> Home:
    return Home(Path(tempfile.mkdtemp()) / "home")


def signing_key() -> Ed25519PrivateKey:
    """The operator's key, which signed all of them."""
    return _home().signing_key


@cache
def files_of(kind: str) -> dict[str, bytes]:
    """The files of a settled campaign's pack, path -> bytes; not to be changed.

    Args:
        kind: its name.
    """
    home, folder = _home(), Path(tempfile.mkdtemp())
    if kind not in {"regression", *_MADE}:
        raise LookupError(f"{kind}: add its smallest campaign file, and what writes its data, to _MADE in {__file__}")
    if kind == "regression":
        path = write_regression(folder)
    else:
        text, make = _MADE[kind]
        path = folder / "campaign.toml"
        path.write_text(text.replace('data_set = "', f'data_set = "{kind}: '))  # they share an installation
        make(folder)
    it = Campaign.load(path)
    with Store(home.url, home=home) as store:
        if kind == "mean":
            _play(it, folder, home, store)
        it.settle(folder / "out", store=store)
    return {each.relative_to(folder / "out").as_posix(): each.read_bytes()
            for each in sorted((folder / "out").rglob("*")) if each.is_file()}

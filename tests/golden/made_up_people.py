"""The made-up people of the golden campaigns: tables as their operators or custodians hold them, the same every time.

Reports that people's devices draw are no part of it: `make.py` has them drawn.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["PASSWORD", "answers_of", "concerns_of", "write_tables"]

PASSWORD = "correct horse battery"
"""Of the made-up operators."""

CONTACTS = [(0, 1), (0, 2), (1, 14), (2, 14), (0, 14), (5, 6), (6, 15), (1, 3), (3, 5), (3, 7), (0, 4), (4, 5), (4, 6),
            (2, 8), (8, 9), (8, 11), (14, 13), (7, 9), (7, 10), (10, 6), (10, 12), (11, 12), (11, 13), (12, 13),
            (13, 9), (3, 10)]
MEMBERS = frozenset({0, 1, 2, 14, 5, 6, 15, 9})


def answers_of(name: str, people: int) -> list[bool]:
    """What people would truly say in a campaign of bits; about two in five say yes."""
    return (_coins(name).random(people) < 0.4).tolist()


def concerns_of(people: int) -> list[float]:
    """How much people fear the platform's knowledge against the public's, for the kind `mean`."""
    return [round(0.05 + 0.9 * (place * 7 % people) / people, 3) for place in range(people)]


def write_tables(folder: Path) -> None:
    """Write every table that no device has to draw."""
    for name, make in _TABLES.items():
        head, rows = make(_coins(name))
        write(folder / f"{name}.csv", head, rows)


def write(path: Path, head: str, rows: Iterable[Iterable[Any]]) -> None:
    """Write a table as CSV."""
    lines = [head, *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _coins(name: str) -> np.random.Generator:
    return np.random.default_rng(list(name.encode()))


def _points(head: str, people: int, highest: float, *, ids: bool = True) -> Callable[..., tuple[str, list[list[Any]]]]:
    """Wishes for goods; the first good is liked best, and one person in nine leaves a cell empty."""
    goods = head.split(",")[1:] if ids else head.split(",")

    def make(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
        liked = np.linspace(0.4, 0.0, len(goods)) + 0.6 * coins.random((people, len(goods)))
        rows: list[list[Any]] = (highest * liked).round(1).tolist()
        for place in range(0, people, 9):
            rows[place][-1] = ""
        return head, [[place + 1, *row] if ids else row for place, row in enumerate(rows)]

    return make


def _ranks(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    orders = [coins.permutation(3) + 1 for _ in range(70)]
    return "north,south,garden", [[each if each < 3 or place % 2 else "" for each in order.tolist()]
                                  for place, order in enumerate(orders)]


def _tools(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    """Lines of a person and a tool; some tools are none of the campaign's, and some worths are above the highest."""
    tools = ("drill", "saw", "ladder", "kettle")
    worth = (6 * coins.random((60, 4))).round(2)
    return "id,tool,worth", [[place + 1, tool, worth[place, k]] for place in range(60) for k, tool in enumerate(tools)
                             if (place + k) % 3]


def _needs(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    worth = (10 * coins.random((120, 4))).round(1)
    return "id,day.1,day.2,night.1,night.2,day.needs,night.needs", [
        [place + 1, *worth[place].tolist(), 1 - place % 2, place % 2] for place in range(120)]


def _trips(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    nodes = "uvw"
    return "id,source,sink", [[place + 1, nodes[place % 3], nodes[(place + 1 + place // 3 % 2) % 3]]
                              for place in range(120)]


def _survey(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    age, job = coins.integers(0, 100, 1000), coins.integers(0, 3, 1000)
    smoker, owner = coins.random(1000) < 0.2 + 0.2 * job, coins.random(1000) < age / 150
    return "age,job,smoker,owner", [[a, ("none", "some", "full")[j], int(s), int(o)]
                                    for a, j, s, o in zip(age, job, smoker, owner, strict=True)]


def _insured(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "insurance", [[("none", "public", "private")[k]] for k in coins.choice(3, 2000, p=[0.1, 0.6, 0.3])]


def _commuting(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    home = coins.integers(0, 200, 2000)
    return "home,work", list(map(list, zip(home, np.minimum(199, home // 2 + coins.integers(0, 100, 2000)),
                                           strict=True)))


def _pay(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    age, male = coins.uniform(20, 60, 1000).round(1), coins.random(1000) < 0.5
    pay = (40 + 0.5 * (age - 40) + 4 * male + coins.uniform(-6, 6, 1000)).round(2)
    return "id,age,sex,pay", [[k + 1, age[k], "male" if male[k] else "female", pay[k]] for k in range(1000)]


def _rent(coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    age = coins.uniform(20, 60, 1000).round(1)
    rent = (900 + 12 * (age - 40) + coins.uniform(-250, 250, 1000)).round()
    return "id,age,rent", [[k + 1, age[k], int(rent[k])] for k in range(1000)]


def _contacts(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "first,second", list(map(list, CONTACTS))


def _memberships(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "id,targeted", [[person, str(person in MEMBERS).lower()] for person in range(16)]


def _first_memberships(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "id,targeted", [[person, str(person in MEMBERS).lower()] for person in (0, 1, 2)]


def _calls(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    """Two lines of ten minutes for a contact, and one of five between people who are none."""
    lines = [[f"p{a:02}", f"p{b:02}", 10] for a, b in CONTACTS for _ in range(2)]
    return "caller,called,minutes", [*lines, ["p15", "p07", 5], ["p12", "p01", 5]]


def _callers(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "name", [[f"p{person:02}"] for person in range(16)]


def _ring(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "name,member", [[f"p{person:02}", "yes" if person in MEMBERS else "no"] for person in range(16)]


def _ways(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "id,way", [[place + 1, ("bus", "bicycle", "car")[place % 3]] for place in range(45)]


def _meals(_coins: np.random.Generator) -> tuple[str, list[list[Any]]]:
    return "meal", [["soup" if place % 3 else "salad"] for place in range(50)]


_TABLES: dict[str, Callable[[np.random.Generator], tuple[str, list[list[Any]]]]] = {
    "bundles_evenings": _points("id,friday,saturday,sunday", 60, 10), "bundles_tools": _tools,
    "matching_courses": _points("id,algebra,drawing,law", 80, 100), "matching_rooms": _ranks,
    "matching_closed": _points("id,algebra,drawing,law", 80, 100),
    "program_places": _points("id,pottery,spanish,chess", 120, 10), "program_routes": _trips,
    "program_charging": _needs, "survey": _survey, "overspent_one_column": _insured,
    "overspent_two_columns": _commuting, "regression_pay": _pay, "regression_rent": _rent,
    "search_contacts": _contacts, "search_contacts_answers": _memberships, "search_waiting": _contacts,
    "search_waiting_answers": _first_memberships, "search_ring": _calls, "search_ring_people": _callers,
    "search_ring_answers": _ring, "histogram_way": _ways, "histogram_lunch": _meals,
}

"""The pages of a campaign that shares resources by a convex program: the prices and the certificate, one participant's
share, and a study. A row of the program is one constraint, such as the supply of a resource.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from confide.campaign.kinds.programs.plan import SharingPlan
from confide.campaign.kinds.programs.plan_pages import described, offer, said, sections, sentence, step, sure
from confide.campaign.kinds.skeleton import AnyOutcome, not_disclosed, promised, settled_otherwise, share_page
from confide.charts import curves, intervals
from confide.contract.errors import Refused, SolverFailed
from confide.contract.guarantees import Audience, stated
from confide.contract.outcome import PublicOutcome, SimulatedOutcome, settled_share
from confide.contract.presentation import Block, Picture, Section, Table, Text
from confide.contract.words import number, says_nothing
from confide.programs.billboards import PathBillboard, tally_of
from confide.programs.families.shared_resources import SharedResources
from confide.programs.grids import PRICE_UNIT
from confide.programs.guarantees import PathCertificate
from confide.programs.instances import in_order, lottery
from confide.programs.program import Program
from confide.programs.round_dude import RoundDude
from confide.programs.slots import collected
from confide.programs.whole_parts import AuditedBillboard, FlagBillboard, drawn_round

__all__ = ["explain", "offer", "result_sections", "result_tables", "sections", "study_sections"]

_SHOWN = 20  # rows on a page; the table has all
_DRAWN = 6  # rows of a picture
_DOTS = 200  # of a line
_CHOICES = 12  # of one person on a page


def _prices_table(plan: SharingPlan, outcome: AnyOutcome) -> pa.Table:
    """A table of all constraints: the average price, the supply, and the bound on the load above the supply."""
    board, names = _board(outcome), plan.coding
    prices = board.average_prices
    return pa.table({
        "row": pa.array(names.rows, pa.string()), "price": prices,
        "price_points": prices * names.unit / names.load_units, "supply": names.supplies,
        "excess_bound": _excess_bound(plan, outcome)})


def _excess_bound(plan: SharingPlan, outcome: AnyOutcome) -> NDArray[np.float64]:
    """Bound on the load above the supply of each of the k constraints, shape (k,), in the file's own units. All bounds
    hold together, except with the failure probability of the certificate.

    For average shares, the bound comes from the certificate. For whole parts, the bound is 0, since the mechanism keeps
    their load within supply. The mode `truthful` may hand out more, to participants who prefer another action; the
    certificate's own claims cover this excess.
    """
    if plan.whole or not isinstance(outcome.certificate, PathCertificate):
        return np.zeros(plan.mechanism.program.rows)
    return np.asarray(outcome.certificate.excess * plan.coding.load_units)


def result_tables(plan: SharingPlan, outcome: AnyOutcome) -> dict[str, pa.Table]:
    """The table `prices`, with a row for every constraint: the average price, the supply, and the bound on the load
    above the supply. Prices are in units of the highest value, and in the file's own units. The bounds hold with the
    probability that the plan states.
    """
    return {"prices": _prices_table(plan, outcome)}


def result_sections(plan: SharingPlan, outcome: AnyOutcome) -> list[Section]:
    """The result page: the constraint with the highest price in one sentence, the prices in a picture, and the limits
    of conclusions about one person. Folded sections show the rise of prices and the promises.
    """
    names, table, board = plan.coding, _prices_table(plan, outcome), _board(outcome)
    prices, bounds = table["price_points"].to_numpy(), table["excess_bound"].to_numpy()
    dearest = np.argsort(-np.abs(prices), kind="stable")[:_SHOWN].tolist()
    order = sorted(dearest)  # as the file has them
    found = outcome.certificate
    bounded = not plan.whole and not (isinstance(found, PathCertificate) and _empty(board, found))
    note = (f"Prices are averages over the main rounds, in {names.worth} for one unit of the row. "
            + ("They are charged. " if plan.charges else "Nobody pays them. ")
            + ("The averages' load is above the supply of a row by at most the last column, "
               f"{sure(plan.mechanism.failure_probability)} of all rows together. " if bounded else "")
            + "The shares of single participants are not public, and neither is the use of a row.")
    if len(prices) > _SHOWN:
        note = f"The {_SHOWN} dearest of {len(prices):,} rows. {note}"
    columns = ("row", "average price", "target" if plan.mechanism.program.two_sided else "supply")
    rows = tuple((names.rows[j], float(prices[j]), float(names.supplies[j]), float(bounds[j])) for j in order)
    whole = Table(columns=(*columns, "excess, at most"), rows=rows, note=note) if bounded else Table(
        columns=columns, rows=tuple(row[:3] for row in rows), note=note)
    return [
        Section(title="What was found", found=True, blocks=(
            Text((_finding(plan, prices),)), *_price_picture(plan, prices, order), whole, *_bought(plan, board))),
        Section(title="Proven statements about this run", blocks=(Text(tuple(_claimed(plan, outcome))),)),
        not_disclosed(plan, "a given participant's record, and their share", Audience.OTHERS),
        Section(title="Prices by round", folded=True, blocks=tuple(_pictures(plan, board, dearest[:_DRAWN]))),
        promised(plan, f"Made by {described(plan.mode, plan.mechanism)}.",
                 *stated(plan.guarantees, lambda each: sentence(names, each)), step(plan)),
    ]


def _finding(plan: SharingPlan, prices: np.ndarray) -> str:
    """A sentence on the constraint with the largest price."""
    names, largest = plan.coding, int(np.argmax(np.abs(prices)))
    if not prices[largest]:
        return f"None of the {len(prices):,} rows has a price."
    return (f"The dearest of {len(prices):,} rows is {names.rows[largest]}, at an average price of "
            f"{number(float(prices[largest]))} {names.worth} a unit.")


def _price_picture(plan: SharingPlan, prices: np.ndarray, rows: list[int]) -> list[Picture]:
    """A picture of the average prices, with an axis that includes 0."""
    names = plan.coding
    points = [(names.rows[j], "average price", float(prices[j]), min(0.0, float(prices[j])), max(0.0, float(prices[j])))
              for j in rows]
    return intervals(points, title="Average prices", axis=names.worth,
                     alt=f"The average prices of {len(rows):,} rows, from {number(float(prices[rows].min()))} to "
                         f"{number(float(prices[rows].max()))} {names.worth}.")


def _board(outcome: AnyOutcome) -> PathBillboard:
    board: Any = outcome.billboard
    if not isinstance(board, PathBillboard):
        raise TypeError("the outcome has no path of prices")
    return board


def _claimed(plan: SharingPlan, outcome: AnyOutcome) -> list[str]:
    """The certificate in words. For whole parts, the first sentence says how the parts are kept within supply; the
    other sentences are about the averages from which parts were drawn.
    """
    board, names, found = _board(outcome), plan.coding, outcome.certificate
    said_all = list[str]()
    if isinstance(board, AuditedBillboard):
        said_all.append(
            "Accepted: the audit found the load of all parts within supply in every row. No row is above its supply, "
            f"{sure(plan.mechanism.failure_probability)}." if board.accepted else
            "Not accepted: the audit could not show that the load of all parts is within supply. Nobody gets anything. "
            "A further try is another campaign, with its own budget.")
    elif isinstance(board, FlagBillboard):
        up = [names.rows[j] for j in np.flatnonzero(board.raised < plan.mechanism.program.people).tolist()]
        shown = ", ".join(up[:_SHOWN]) + (", ..." if len(up) > _SHOWN else "")
        said_all.append(f"Flags rose for {len(up):,} rows{': ' + shown if up else ''}. Later participants with a part "
                        f"in one of these rows get nothing.{_unserved(plan, board)}")
    elif plan.whole:
        said_all.append(f"No row is above its supply, {sure(plan.mechanism.failure_probability)}. The reserve ensures "
                        "this.")
    if not isinstance(found, PathCertificate):
        return [*said_all, "There is no certificate."]
    over = found.excess * names.load_units
    averages = "The averages that parts were drawn from" if plan.whole else "The averages"
    certain = sure(found.failure_probability)
    if _empty(board, found):
        said_all.append(says_nothing(
            "the bound on the "
            f"{'distance from the targets' if plan.mechanism.program.two_sided else 'excess over supply'} of "
            f"{averages[:1].lower()}{averages[1:]}"))
    elif plan.mechanism.program.two_sided:
        said_all.append(f"{averages} miss no target by more than {number(float(over.max()))}, {certain}.")
    else:
        said_all.append(f"{averages} are above supply by at most {number(float(over.sum()))} in all rows together, "
                        f"{certain}.")
    if not plan.mechanism.program.two_sided:
        said_all += _worth_claims(plan, board, found)
    claims = getattr(plan.mechanism, "claims", None)
    if claims is not None:
        said_all += stated(claims(found), lambda each: sentence(names, each))
    return said_all


def _empty(board: PathBillboard, found: PathCertificate) -> bool:
    """Whether the bound on the excess is no better than the largest excess that is possible at all."""
    return not float(found.excess.sum()) < board.most_excess


def _worth_claims(plan: SharingPlan, board: PathBillboard, found: PathCertificate) -> list[str]:
    """Sentences on the largest loss of value of the averages against the optimum; none where every bound is trivial."""
    names, most = plan.coding, board.baseline_gap
    if not most > 0.0:
        return []
    if not min(found.gap, found.sharp_gap) < most:
        return [says_nothing("the bound on the value below the optimum")]
    bounds = [f"The averages are worth at most {said(names, gap)} {names.worth} less than the optimum, "
              f"{sure(found.failure_probability)}." for gap in (found.gap, found.sharp_gap) if gap < most]
    if len(bounds) == 1:
        return bounds
    return [bounds[0], f"The bound {said(names, found.sharp_gap)} {names.worth} holds in place of the first bound, but "
                       "not together with it: decide before the run which bound you quote."]


def _unserved(plan: SharingPlan, board: FlagBillboard) -> str:
    """A sentence on the largest number of participants who get nothing because of a flag; empty where the bound is
    trivial.
    """
    it = plan.mechanism
    most = it.unserved(board) if isinstance(it, RoundDude) else np.inf
    return f" These are at most {most:,.0f} people, {sure(it.failure_probability)}." if most < it.program.people else ""


def _pictures(plan: SharingPlan, board: PathBillboard, rows: list[int]) -> list[Picture]:
    """A picture of the prices by round, for the dearest constraints."""
    names = plan.coding
    paths = board.prices / PRICE_UNIT * names.unit / names.load_units
    rounds = np.unique(np.linspace(0, len(paths) - 1, min(_DOTS, len(paths))).astype(np.int64)).tolist()
    dots = [(float(t + 1), float(paths[t, j]), names.rows[j]) for j in rows for t in rounds]
    ends = ", ".join(f"{names.rows[j]} {float(paths[-1, j]):.3g}" for j in rows)
    which = "The prices" if len(rows) == len(names.rows) else f"The {len(rows)} highest prices"
    return curves(dots, title="Prices by round", x="round", y=f"price, in {names.worth}",
                  alt=f"{which} by round. The first {board.burn_in} rounds do not count. The prices end at {ends}.")


def _bought(plan: SharingPlan, board: PathBillboard) -> list[Block]:
    """A table of the units to buy of each public resource; empty for families without public resources."""
    program = plan.mechanism.program
    if not isinstance(program, SharedResources):
        return []
    units = np.mean([program.bought(row) for row in board.main_prices], axis=0)
    names = dict[int, str]()
    flat = [resource for some in program.needs for resource in some]
    for row, resource in zip(plan.coding.rows, flat, strict=True):
        names.setdefault(resource, row.split(" for ")[0])
    return [Table(columns=("resource", "units to buy", "cost of all"), rows=tuple(
        (names[r], float(units[r]), float(units[r] * program.costs[r] * plan.coding.unit)) for r in sorted(names)),
        note="The table shows means over the main rounds. They follow from the public prices.")]


# ---- one person


def explain(plan: SharingPlan, outcome: AnyOutcome, record: Any, index: int) -> list[Section]:
    """One participant's page after the run: their share, and the reasons why they get this share.

    Args:
        plan: plan with which the campaign was settled.
        outcome: outcome of the run.
        record: record of the participant, in the form that the program takes; None where the participant has no usable
            record.
        index: position of the participant in the public list of ids, from 0.
    """
    share, who = dict(plan.mechanism.decode(record, index, outcome.billboard)), f"Participant {index + 1}"
    called, stored = _called(plan, share), None if isinstance(outcome, PublicOutcome) else settled_share(outcome, index)
    if stored is not None and stored != share:
        return settled_otherwise(who, _called(plan, stored), called, gets="get", at="with")
    if record is None:
        return share_page(f"{who}: nothing", "No usable record arrived under this id. It counts as an empty slot.")
    mine, board = plan.mechanism.program.one(record), _board(outcome)
    lines = _story(plan, board, mine, index, share)
    lines.append("This page follows from your own record, your place and the public billboard. Nobody can compute it "
                 "from public data alone. The provider, who delivers your part to you, learns this "
                 "part.")
    return share_page(f"{who}: {called}", _choices(plan, board, mine), *lines)


def _called(plan: SharingPlan, share: dict[str, Any]) -> str:
    """A participant's share in words."""
    if "action" in share:
        return plan.coding.called(_action(plan, share["action"]))
    some = [(times, plan.coding.called(action)) for action, times in actions_of(plan, share)]
    rounds = plan.mechanism.rounds
    parts = [f"{times / rounds:.1%} {name}" for times, name in sorted(some, key=lambda one: -one[0])
             if name != "nothing"]
    more = f"; and {len(parts) - 3} more choices" if len(parts) > 3 else ""
    return "; ".join(parts[:3]) + more if parts else "nothing"


def _action(plan: SharingPlan, described_as: Any) -> NDArray[np.int32]:
    """An action in the program's form, shape (width,), from its form in a share."""
    some = [described_as] if isinstance(described_as, int) else list(described_as)
    width = plan.mechanism.program.width
    return np.array([*some, *[-1] * (width - len(some))], dtype=np.int32)


def actions_of(plan: SharingPlan, share: dict[str, Any]) -> list[tuple[NDArray[np.int32], int]]:
    """The actions in a share that is an average over rounds. Each action, shape (width,), comes with the number of main
    rounds in which it was chosen.

    Args:
        plan: plan with which the campaign was settled.
        share: one participant's share, with "actions" and "times".
    """
    flat = np.array(share["actions"], dtype=np.int32).reshape(-1, plan.mechanism.program.width)
    return [(flat[place], int(times)) for place, times in enumerate(share["times"])]


def _choices(plan: SharingPlan, board: PathBillboard, mine: Any) -> Table:
    """A table of the participant's best choices over the main rounds."""
    program, names = plan.mechanism.program, plan.coding
    _, actions, times = tally_of(mine, program, board.main_prices)
    some = mine.take(np.zeros(len(actions), dtype=np.int64))
    worth = program.values(some, actions) / PRICE_UNIT
    costs = program.paid(some, actions, board.charged_prices) / (PRICE_UNIT * program.scale)
    order = np.argsort(-times, kind="stable")[:_CHOICES].tolist()
    more = f" The table shows the {_CHOICES} most frequent of {len(times)} choices." if len(times) > _CHOICES else ""
    return Table(
        columns=("your best choice", "main rounds with it", "value to you", "price at average prices",
                 "value minus price"),
        rows=tuple((names.called(actions[a]), int(times[a]), float(worth[a] * names.unit),
                    float(costs[a] * names.unit), float((worth[a] - costs[a]) * names.unit)) for a in order),
        note=f"Values and prices are in {names.worth}, over {board.rounds:,} main rounds.{more}"
             + (" The cost of your unmet needs is subtracted from the values."
                if program.constants.least_value < 0 else ""))


def _story(plan: SharingPlan, board: PathBillboard, mine: Any, index: int, share: dict[str, Any]) -> list[str]:
    program, names = plan.mechanism.program, plan.coding
    lines = list[str]()
    if "action" in share:
        round_ = drawn_round(board.public_seed, index, board.rounds)
        prices = board.main_prices[round_]
        best, got = program.respond(mine, prices), _action(plan, share["action"])
        left = (int(program.values(mine, best)[0]) * program.scale - int(program.paid(mine, best, prices)[0]))
        worth = said(names, int(program.values(mine, best)[0]) / PRICE_UNIT)
        lines.append(f"The public draw names main round {round_ + 1:,} of {board.rounds:,}. At the prices of this "
                     f"round, your best choice is {names.called(best[0])}: it is worth {worth} {names.worth} to you, "
                     f"{said(names, plan.mechanism.natural(left))} above its price.")
        if isinstance(board, AuditedBillboard) and not board.accepted:
            lines.append("The audit did not accept the run, so nobody gets anything.")
        elif not np.array_equal(best[0], got):
            lines.append(_otherwise(board, names.called(got)))
        lines.append(f"You get {names.called(got)}.")
        if names.called(got) == "nothing":
            lines += _missed(plan, mine, prices, "in that round")
    else:
        lines.append(f"You get the average of these choices: {_called(plan, share)}.")
        if _called(plan, share) == "nothing":
            lines += _missed(plan, mine, board.charged_prices, "on average")
        replayed = tally_of(mine, program, board.main_prices)[1]
        if plan.charges and share["actions"] != replayed.reshape(-1).tolist():
            lines.append("At the average prices, another choice is clearly better for you than your average. You get "
                         "that choice in place of the average.")
    if "price" in share:
        lines.append(f"You owe {said(names, float(share['price']))} {names.worth} to the operator.")
    return lines


def _missed(plan: SharingPlan, mine: Any, prices: NDArray[np.int64], when: str) -> list[str]:
    """A sentence for a participant without a part: their best choice at prices of 0, and the actual price of this
    choice. The list is empty if the best choice is to get nothing.
    """
    program, names = plan.mechanism.program, plan.coding
    free = program.respond(mine, np.zeros_like(prices))
    if not names.used(free[0]):
        return []
    worth = said(names, int(program.values(mine, free)[0]) / PRICE_UNIT)
    price = said(names, plan.mechanism.natural(int(program.paid(mine, free, prices)[0])))
    return [f"Without prices, your best choice is {names.called(free[0])}: it is worth {worth} {names.worth} to you, "
            f"and its price {when} was {price}."]


def _otherwise(board: PathBillboard, got: str) -> str:
    """The reason why a participant does not get the part that was drawn for them."""
    if isinstance(board, FlagBillboard):
        return "This choice uses a row with a flag that had risen before your place, so you get nothing."
    if got == "nothing":
        return "Your average is not worth its price to you: you get nothing, and owe nothing."
    return ("At the average prices, another choice is clearly better for you than your average. You get that choice "
            "instead.")


_MOST_CELLS = 4_000_000  # people x rows, up to which the optimum is found
_SERVED = 50_000  # people, up to which rules of thumb are tried out


def study_sections(plan: SharingPlan, data: Any, outcome: SimulatedOutcome) -> list[Section]:
    """The study page. It compares the total value of the run with the optimum and with simple rules, and the load of
    every constraint with its supply.

    Args:
        plan: plan of the run.
        data: batches of the rows of all participants; private.
        outcome: outcome of the run, with simulated noise.
    """
    program, names = plan.mechanism.program, plan.coding
    records = collected(program, data)
    found: dict[str, Any] = dict(outcome.diagnostics or {})
    excess = np.asarray(found["excess"]) * names.load_units
    load = np.asarray(found["load"]) * names.load_units
    order = np.argsort(-excess / np.maximum(np.abs(names.supplies), 1e-9), kind="stable")[:_SHOWN].tolist()
    loads = Table(
        columns=("row", "target" if program.two_sided else "supply", "load", "excess"),
        rows=tuple((names.rows[j], float(names.supplies[j]), float(load[j]), float(excess[j])) for j in order),
        note=f"The excess of all rows together is {float(excess.sum()):.5g}. Loads follow from everybody's records, so "
             "they are never published.")
    if program.constants.most_value == 0.0 and program.constants.least_value == 0.0:
        return [Section(title="Distance from the target", study=True, blocks=(loads,))]
    rows = [(f"this run ({plan.mode}, simulated noise)", float(found["value"])), *_thumbs(program, records)]
    best, note = _best(program, records)
    if best is not None:
        rows.append((note, best))
    shown = tuple((name, value * names.unit, value / best if best else None) for name, value in rows)
    return [Section(title="Value of this run and of other allocations", study=True, blocks=(
        Table(columns=("allocation", f"value, in {names.worth}", "share of the optimum"), rows=shown,
              note="Averages can have a larger value than the optimum if they are above supply. Only the run protects "
                   "people's records; the other allocations do not." + ("" if best is not None else f" {note}")),
        loads, *_paid(plan, found)))]


def _paid(plan: SharingPlan, found: dict[str, Any]) -> tuple[Text, ...]:
    if "paid" not in found:
        return ()
    return (Text((f"All participants together owe {float(found['paid']) * plan.coding.unit:,.5g} {plan.coding.worth}. "
                  f"{int(found.get('unsatisfied', 0)):,} people got their favourite instead of the part from the draw "
                  "or the average.",)),)


def _best(program: Program, records: Any) -> tuple[float | None, str]:
    """The optimal value with its name, or None with the reason why the optimum is not shown."""
    if program.people * program.rows > _MOST_CELLS:
        return None, "The optimum is not computed at this size."
    try:
        from confide.programs.exact_optimum import exact  # with HiGHS, for studies alone

        return exact(program, records).value, "the optimum (exact, not private)"
    except (Refused, SolverFailed) as error:
        return None, f"The optimum was not found: {error}."


def _thumbs(program: Program, records: Any) -> list[tuple[str, float]]:
    """The values of two simple rules without privacy: serial dictatorship, and a lottery."""
    if not program.constants.packing or program.people > _SERVED:
        return []
    return [("everybody's best remaining choice, in a random order (serial dictatorship)",
             in_order(program, records, seed=0) / PRICE_UNIT),
            ("everybody's favourite in a random order, if it still fits (lottery)",
             lottery(program, records, seed=0) / PRICE_UNIT)]

"""How far one bidder moves what an auction of bundles counts: her bids, and her reports at the end of each round.

Write b_r, b'_r in {0, 1} for whether she bids in round r in either of two neighbouring worlds, u_r, u'_r for her report
at its end (she would bid once more, and has a bid left), x_r for the l1 distance of her bids, y_r = |u_r - u'_r|.
Everybody else's state follows from the public record and her own row, so along one history only these differ. She bids
once a round at most, C times in all, so x_r <= b_r + b'_r <= 2 and the x_r add up to 2 min(C, R) at most. Nobody asks
after the last round.

Whoever declines in her slot is idle: she neither bids nor reports until she loses a good. (At prices that only rise
that changes nothing for any valuation; the auction enforces it, so a program that contradicts itself is bound too.)

Her first bid is in round 1, in either world: who declines then holds nothing that she could lose. A report leaves a
bid, so she reports after min(C, R) - 1 of her bids at most, and what she says in round 1 counts once for both worlds.

*Slot tests* (the print). Goods are dropped in her slot, right before she bids or declines. So u_r = 1 only where
b_r = 1: had she declined in slot r she would be idle at its end. After round 1 that leaves min(C, R) - 2 reports in
either world. All together, with C, R >= 2,

    x + y <= 2 min(C, R) + min(R - 1, 2 min(C, R) - 3).

Without a cap, and with a report after the last round as in the print, that is 3R, and it is reached: she may hold all
that she wants when the round ends, and lose a good before her next slot. The printed proof has 2R.

*Round-end tests.* Goods are dropped at the end of a round, before the report. So u_r = 1 where b_r = 1, or where she
lost a good at the end of round r; she loses no more goods than she bid on, so after round 1 there are 2 min(C, R) - 3
reports in either world. And a report u_r = 0 keeps her from bidding in round r + 1, since no good is dropped in
between: y_r = 1 leaves one possible bidder, x_{r+1} + y_r <= 2. With x_1 <= 2 all together are 2R at most, or 2R + 1
with a report after the last round.

So where no cap binds (C >= R), reports cost nothing beside round-end tests if their noise is large enough: with blocks
of bids at scale a, a bid of round r + 1 in M >= 1 of them, and blocks of reports at scale q a, a report in q of them at
most, x M/a + y q/(q a) <= 2M/a, which is what the bids are paid for. With C < R, slot tests have the smaller distance.

*Bids as reports* (CountBids): y_r = |b_r - b'_r|.

Source: Wu 2017, Algorithm 6 (Theorem 4.4.1, corrected); spec allocation 3.2 and 5, for bid caps and free reports ours.
"""

from __future__ import annotations

from typing import Literal

from confide.contract.checks import one_of, whole

__all__ = ["OutbidTests", "free_reports", "joint_distance", "report_distance"]

OutbidTests = Literal["slot", "round_end"]


def report_distance(*, rounds: int, bid_cap: int, tests: OutbidTests, worlds: int = 2) -> int:
    """How far one neighbour step moves the reports of all rounds but the last together, in l1; at least 1.

    Args:
        rounds: R >= 1.
        bid_cap: C >= 1.
        tests: when goods are dropped: "slot" or "round_end".
        worlds: in how many of the two she has a row that is not zero: 2, or 1 where she is replaced by zeros.

    Example:
        >>> [report_distance(rounds=30, bid_cap=8, tests=tests) for tests in ("slot", "round_end")]
        [13, 27]
    """
    one_of("outbid_tests", tests, ("slot", "round_end"))
    asked = whole("rounds", rounds, at_least=1) - 1
    return max(1, min(asked, _reports(min(whole("bid_cap", bid_cap, at_least=1), rounds), tests, worlds)))


def _reports(bids: int, tests: OutbidTests, worlds: int) -> int:
    """Reports that differ, of who makes so many bids at most: one in round 1, and then those of each world."""
    if bids < 2:
        return 0
    return 1 + worlds * (bids - 2 if tests == "slot" else 2 * bids - 3)


def joint_distance(*, rounds: int, bid_cap: int, tests: OutbidTests, last_report: bool = False) -> int:
    """How far replacing a bidder moves bids and reports together, in l1.

    Args:
        rounds: R >= 1.
        bid_cap: C >= 1.
        tests: when goods are dropped.
        last_report: whether there is a report after the last round too, as in the print.

    Example:
        >>> [joint_distance(rounds=3, bid_cap=3, tests=tests, last_report=True) for tests in ("slot", "round_end")]
        [9, 7]
    """
    bids = 2 * min(bid_cap, rounds)
    if bid_cap >= rounds:
        last = 1 if last_report else 0
        return bids + (rounds - 1 if tests == "slot" else 0) + last
    # A capped bidder has no bid left after R of them, and a report after the last round is one like any other.
    asked = rounds if last_report else rounds - 1
    together = bids + min(asked, _reports(bid_cap, tests, 2))
    return together if tests == "slot" else min(together, 2 * rounds + (1 if last_report else 0))


def free_reports(*, rounds: int, bid_cap: int, tests: OutbidTests, worlds: int) -> bool:
    """Whether reports cost nothing where their noise is large enough: round-end tests, no cap that binds, and a bidder
    who may bid in both worlds, since one world's bid takes none from the other's.
    """
    return tests == "round_end" and bid_cap >= rounds and worlds == 2

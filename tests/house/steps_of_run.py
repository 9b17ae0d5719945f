"""How a run goes through the modules of `confide.campaign`: `python tests/house/steps_of_run.py`.

One small campaign is loaded, planned and settled, and each call from one room to another is followed. A room is a
module of `confide.campaign`; a subpackage, such as the store, is one room. What other packages do in between (the
contract) and what a kind does is no step, but what they call back is. Another campaign is settled first, so that
nothing is imported meanwhile. Counted are

- rooms: that are entered at all;
- climbs: pairs of rooms of which one calls the other while that one still waits for it, directly or through others:
  whoever reads the one has to go back to the other in the middle;
- returns: pairs of rooms of which one calls the other after it was entered and left by another room: a room that is
  entered from several others.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

ROOT = "confide.campaign."
KINDS = f"{ROOT}kinds."


@dataclass
class Steps:
    """What was seen of a run.

    Args:
        rooms: in the order in which they were entered.
        climbs: (from, to) of calls into a room that waits.
        returns: (from, to) of calls into a room that others entered before.
    """

    rooms: dict[str, None] = field(default_factory=dict)
    climbs: dict[tuple[str, str], None] = field(default_factory=dict)
    returns: dict[tuple[str, str], None] = field(default_factory=dict)
    callers: dict[str, str] = field(default_factory=dict)


def followed(work: Callable[[], object]) -> Steps:
    """Do some work, and say through which rooms it went.

    Args:
        work: what is done.
    """
    found = Steps()
    frames = list[tuple[FrameType, str]]()

    def step(frame: FrameType, event: str, _: Any) -> None:
        if event == "return":
            if frames and frames[-1][0] is frame:
                frames.pop()
            return
        if event != "call":
            return
        room = room_of(frame)
        if room is None:
            return
        here = frames[-1][1] if frames else "(outside)"
        if room != here:
            if any(each == room for _, each in frames):
                found.climbs[here, room] = None
            elif room not in found.rooms:
                found.rooms[room] = None
                found.callers[room] = here
            elif found.callers[room] != here:
                found.returns[here, room] = None
        frames.append((frame, room))

    before = sys.getprofile()
    sys.setprofile(step)
    try:
        work()
    finally:
        sys.setprofile(before)
    return found


def room_of(frame: FrameType) -> str | None:
    """The room of a frame; None where it belongs to another package."""
    name = str(frame.f_globals.get("__name__", ""))
    return name.removeprefix(ROOT).partition(".")[0] if name.startswith(ROOT) and not name.startswith(KINDS) else None


def run(folder: Path) -> Steps:
    """The steps of `Campaign.load(...).settle()` of a small campaign.

    Args:
        folder: an empty one.
    """
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from campaign import small
    from confide.campaign import Campaign, Home, Store

    home = Home(folder / "home")
    with Store(f"sqlite:///{folder / 'store.db'}", home=home) as store:
        first = small.write(folder / "first", ("What do", "What did"), ("pay survey", "first survey"))
        Campaign.load(first).settle(store=store)
        path = small.write(folder / "second")
        return followed(lambda: Campaign.load(path).settle(store=store))


def main() -> None:
    """Print what is counted."""
    with TemporaryDirectory() as folder:
        found = run(Path(folder))
    print(f"{len(found.rooms)} rooms: {', '.join(found.rooms)}")
    for what, pairs in (("climbs", found.climbs), ("returns", found.returns)):
        print(f"{len(pairs)} {what}: {'; '.join(f'{a} -> {b}' for a, b in pairs)}")


if __name__ == "__main__":
    main()

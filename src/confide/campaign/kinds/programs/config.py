"""The tables of a campaign of the kind `program`, and the form for one participant; every key is public."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import Field, model_validator

from confide.campaign.kinds.programs.family_tables import (
    Finite,
    ProgramTable,
    Share,
)
from confide.contract.errors import InvalidInput
from confide.contract.known_keys import DataTable, Keys, PeopleTable, keys_of
from confide.programs.dude import Dude
from confide.programs.priv_dude import PrivDude
from confide.programs.reading import Points
from confide.programs.round_dude import RoundDude
from confide.programs.slots import Coding
from confide.programs.tight_dude import TightDude
from confide.programs.tighten_and_audit import TightenAndAudit

__all__ = ["MODES", "ModeName", "ProgramConfig", "SolutionTable", "coding_of", "with_alpha"]

ModeName = Literal["average", "round", "truthful", "tight", "audited"]
MODES: dict[ModeName, str] = {
    "average": "PrivDude", "round": "RoundDude", "truthful": "TrueDude", "tight": "TightDude",
    "audited": "TightenAndAudit"}
_PATH = frozenset({"rounds", "burn_in", "burn_share", "step", "law"})
_OWN: dict[ModeName, frozenset[str]] = {
    "average": _PATH,
    "round": _PATH | {"flag_share", "truncate", "stop_share", "batch"},
    "truthful": _PATH | {"alpha"},
    "tight": _PATH | {"alpha", "payments"},
    "audited": _PATH | {"audit_share", "slack", "alpha", "payments"},
}

_MOST_PEOPLE = 10**7


class People(PeopleTable):
    """`[people]`: the invited people, who have the ids 1 to count."""

    count: int = Field(ge=1, le=_MOST_PEOPLE, description="n, invited slots; fixed and public")


class ValuesTable(Keys):
    """`[values]`: the public scale of values, the same for all participants."""

    lowest: Finite = Field(default=0.0, description="number that counts as the value 0, like an empty cell")
    highest: Finite = Field(description="number that counts as the value 1")
    out_of_bounds: Literal["reject", "clip"] = Field(
        default="reject", description="rule for a number beyond lowest or highest: reject makes the row unusable, clip "
                                      "moves the number to the bound")

    def points(self) -> Points:
        """The public rule that turns the numbers of a submission into values in [0, 1].

        Raises:
            InvalidInput: `highest` is not above `lowest`, or the two are too far apart for floating point.
        """
        if not self.lowest < self.highest:
            raise InvalidInput("values.highest", f"{self.highest:g} is not above lowest = {self.lowest:g}")
        if self.highest - self.lowest == float("inf"):
            raise InvalidInput("values.highest", "the bounds are too far apart for floating point")
        return Points(lowest=self.lowest, highest=self.highest, clip=self.out_of_bounds == "clip")


class Data(DataTable):
    """`[data]`: the path of the file of submissions, and its layout."""

    form: Literal["wide", "long"] | None = Field(
        default=None, description="wide: a row for each person; long, for bundles: a line for each person and bundle. "
                                  "By default the form of the family")
    bundle: str = Field(default="bundle", min_length=1, description=
        "column of the bundles, written a+b, for form = 'long'")
    value: str = Field(default="value", min_length=1, description=
        "column of the values, for form = 'long' and for knapsacks")


@keys_of(Dude, "epsilon delta neighbours")
class PrivacyTable(Keys):
    """`[privacy]`: the bound on the information that all other participants together may gain about one participant,
    and the failure probability of the promises of accuracy.
    """

    failure_probability: float = Field(
        default=0.05, gt=0, lt=0.5, description="probability that promises of accuracy fail")


@keys_of(PrivDude, "rounds burn_in burn_share step law", optional=True)
@keys_of(TightDude, "payments", optional=True)
@keys_of(TightenAndAudit, "audit_share slack", optional=True)
@keys_of(RoundDude, "flag_share truncate stop_share batch", optional=True)
class SolutionTable(Keys):
    """`[solution]`: the mode, which is the form of each participant's share, and settings of the mechanism. Keys that
    are left out get values chosen for the campaign's size.

    Every mode has the keys rounds, burn_in, burn_share, step and law. The mode "round" adds the keys flag_share,
    truncate, stop_share and batch, and the mode "audited" adds the keys audit_share and slack. The modes "audited" and
    "tight" add the key payments.
    """

    mode: ModeName | None = Field(
        default=None, description="average (PrivDude): everybody's average; round (RoundDude) and audited "
                                  "(TightenAndAudit): whole parts within supply; truthful (TrueDude): averages at "
                                  "prices; tight (TightDude): whole parts at prices. By default audited if everybody "
                                  "can get nothing, and average otherwise")
    alpha: float | None = Field(
        default=None, gt=0, description="for truthful, tight and audited: a participant who gains more than alpha from "
                                        "another choice at the charged prices gets that choice. The mode audited "
                                        "charges prices only if alpha is given. The unit is points of [values], or for "
                                        "flows the unit of the arcs' costs. By default a hundredth of highest minus "
                                        "lowest, or of the largest cost of an arc; for audited none")
    most_excess: Share = Field(default=0.05, description=
        "for averages: largest excess in the certificate, as a share of supply; a plan with more is refused")
    most_unused: Share = Field(default=0.3, description="for whole parts: largest reserve, as a share of supply; a "
                                                        "plan with more is refused")

    def options(self, mode: ModeName) -> dict[str, Any]:
        """The settings of the mechanism that the campaign file states; settings that the file leaves out are missing.

        Args:
            mode: form of each participant's share, such as "average".

        Raises:
            InvalidInput: the file sets a key that this mode does not have.
        """
        given: dict[str, Any] = self.model_dump(exclude={"mode", "most_excess", "most_unused"}, exclude_none=True)
        for name in given:
            if name not in _OWN[mode]:
                others = [f"{each!r}" for each, own in _OWN.items() if name in own]
                raise InvalidInput(f"solution.{name}", f"does not belong to mode = {mode!r}",
                                   f"it belongs to mode = {', '.join(others)}")
        return given


def with_alpha(mode: ModeName, alpha: float | None) -> dict[str, Any]:
    """The alpha of the campaign file, as a mapping from the option "alpha" to its number. The mapping is empty for a
    mode that never charges prices, and where the file has no alpha.

    Args:
        mode: form of each participant's share, which may differ from the mode of the file.
        alpha: smallest gain from another choice, in the file's own unit, at which a participant gets this other choice
            instead; None where the file states no alpha.
    """
    return {"alpha": alpha} if alpha is not None and "alpha" in _OWN[mode] else {}


class ProgramConfig(Keys):
    """All tables of the kind `program`."""

    program: Annotated[ProgramTable, Field(discriminator="family")]
    people: People
    values: ValuesTable | None = None
    data: Data
    privacy: PrivacyTable
    solution: SolutionTable = SolutionTable()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.program.asks_values and self.values is None:
            raise InvalidInput("values", "is missing", "add the table with highest, and lowest if it is not 0")
        if not self.program.asks_values and self.values is not None:
            raise InvalidInput("values", f"does not belong to the family {self.program.family}",
                               "remove the table: the costs of this family are public, and stand in [program]")
        wanted = "long" if self.program.family == "xor-bundles" else "wide"
        if self.data.form not in (None, wanted):
            raise InvalidInput("data.form", f"{self.data.form!r} does not fit the family {self.program.family}",
                               f"must be {wanted!r}")
        names = self.coding.names
        if self.people.id in names:
            raise InvalidInput("people.id", f"{self.people.id!r} is also a column of [program]",
                               "give the column of ids another name")
        return self

    @property
    def coding(self) -> Coding:
        """The convex program that the file describes, with the names and the unit of value that the file uses.

        Raises:
            InvalidInput: the file describes no valid program; the message names the key.
        """
        return coding_of(self)


def coding_of(config: ProgramConfig) -> Coding:
    """The convex program that a campaign file describes, with the names and the unit of value that the file uses.

    Raises:
        InvalidInput: the file describes no valid program; the message names the key.
    """
    points = None if config.values is None else config.values.points()
    try:
        return config.program.coding(config.people.count, points, config.data)
    except InvalidInput as error:
        places = {"people": "people.count", "tau": "program.tau", "rows": "program.resources"}
        place = error.field if "." in error.field else places.get(error.field, f"program.{error.field}")
        raise InvalidInput(place, error.problem, error.ways) from None

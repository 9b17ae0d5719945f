"""The kind `program` before its run: what is planned and offered, and which files are refused."""

from __future__ import annotations

import json
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from shared_programs import EDITS, MODES, campaign, rows

from campaign.forging import words
from confide import programs
from confide.campaign import Campaign
from confide.campaign.kinds.programs.config import _OWN
from confide.campaign.kinds.programs.config import MODES as NAMES
from confide.contract import InvalidInput, Refused, Table, kind
from confide.contract.errors import BudgetExceeded
from confide.programs import Knapsack, UnitDemand
from confide.programs import plan as plan_programs

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def test_the_plan_reads_public_parameters_alone(tmp_path: Path) -> None:
    plans = [campaign(tmp_path, data=data).plan for data in (rows("unit-demand")[1], rows("unit-demand")[1][:3])]
    (tmp_path / "rows.csv").unlink()
    plans.append(Campaign.load(tmp_path / "shared.toml").plan)
    assert plans[0].to_dict() == plans[1].to_dict() == plans[2].to_dict()
    shown = words(plans[2].sections())
    assert shown == words(plans[0].sections())
    assert "audited (planned)" in shown
    assert "in reserve" in shown
    json.dumps(plans[0].to_dict(), allow_nan=False)


def test_all_that_is_promised_costs_no_more_than_the_budget(tmp_path: Path) -> None:
    """Two Gaussian parts, each rounded up, are admitted by a budget of exactly what was asked."""
    for share in (0.5, 0.3, 0.77):
        plan = campaign(tmp_path, ("burn_in", f"audit_share = {share}\nburn_in")).plan
        assert plan.mechanism.epsilon == 20.0  # type: ignore[attr-defined]
    with pytest.raises(BudgetExceeded):
        campaign(tmp_path, ("epsilon = 20.0", "epsilon = 19.99")).plan  # noqa: B018


def test_the_offer_says_who_learns_what_and_what_is_charged(tmp_path: Path) -> None:
    free = words(campaign(tmp_path).offer())
    assert "The provider, who delivers your part to you, learns this part" in free
    assert "no promise about the gain from a false record" in free
    scaled = words(campaign(tmp_path, *EDITS["scaled"]).offer())
    assert "In every run, you pay at most the value of your part to you" in scaled
    charged = words(campaign(tmp_path, *EDITS["charged"]).offer())
    assert "In an unlucky draw" in charged
    assert "At this epsilon, the campaign makes no promise about the gain from a lie" in charged
    quiet = campaign(tmp_path, *EDITS["truthful"], ("count = 240", "count = 24000"), ("[60, 50, 70]", "6000"),
                     *[("epsilon = 20.0\ndelta = 1e-3", "epsilon = 0.5\ndelta = 1e-6")] * 2)
    gain = 10 * quiet.plan.mechanism.gain  # type: ignore[attr-defined]
    assert 0.5 < gain < 2
    assert f"No lie gains more than {gain:.4g} points" in words(quiet.offer())


@pytest.mark.parametrize(("of", "edit", "field", "says"), [
    ("unit-demand", ("highest = 10", "higest = 10"), "values.higest", "did you mean 'highest'"),
    ("unit-demand", ("highest = 10", "highest = 0"), "values.highest", "not above lowest"),
    ("unit-demand", ("[values]\nhighest = 10\n", ""), "values", "is missing"),
    ("unit-demand", ('"unit-demand"', '"unit-demnd"'), "program.family", "did you mean 'unit-demand'"),
    ("unit-demand", ('"b"', '"a"'), "program.goods", "stands twice"),
    ("unit-demand", ('"b"', '"a+b"'), "program.goods", "joins names"),
    ("unit-demand", ('"b"', '"id"'), "people.id", "also a column"),
    ("unit-demand", ("[60, 50, 70]", "[60, 50]"), "program.supply", "2 numbers for 3 names"),
    ("unit-demand", ("supply = [60, 50, 70]", ""), "program.goods", "are not given in exactly one way"),
    ("unit-demand", ("burn_in = 20", "flag_share = 0.5"), "solution.flag_share", "'round'"),
    ("unit-demand", ("burn_in = 20", 'payments = "scaled"'), "solution.payments", "without an alpha"),
    ("unit-demand", ("burn_in = 20", 'mode = "best"'), "solution.mode", "audited"),
    ("unit-demand", ("delta = 1e-3\n\n[data]", "delta = 0.0\n\n[data]"), "privacy.delta", "greater than 0"),
    ("unit-demand", ('"rows.csv"', '"rows.csv"\nform = "long"'), "data.form", "must be 'wide'"),
    ("capped-additive", ("cap = 2", "cap = 4"), "program.cap", "too large"),
    ("xor-bundles", ("size = 2", "size = 4"), "program.size", "too large"),
    ("knapsack", ("least_weight = [0.5, 0.1]", "least_weight = [0.5, 2]"), "program.least_weight", ""),
    ("knapsack", ('"space"', '"value"'), "data.value", "also a resource"),
    ("shared-resources", ("q,x+y", "q,x+z"), "program.projects", "'z' is not a resource"),
    ("shared-resources", ("y,2", "y,0"), "program.costs", ""),
    ("flow", ("u,v,60,1", "u,u,60,1"), "program.arcs", "joins node"),
    ("flow", ("u,v,60,1", "u,v,0,1"), "program.arcs", "the capacity 0; must be above 0"),
    ("flow", ("u,v,60,1", "u,v,60"), "program.arcs", "3 cells"),
    ("flow", ("u,v,60,1", "u,v,60,much"), "program.arcs", "is not a number"),
    ("flow", ("tail,head", "from,head"), "program.arcs", "does not begin with"),
    ("flow", ("[data]", "[values]\nhighest = 1\n\n[data]"), "values", "does not belong to the family flow"),
    ("electricity", ("most = 2", "most = 5"), "program.most", "at most 4"),
    ("electricity", ("shortfall = 5", "hard = true"), "program.tau", "is not declared"),
    ("electricity", ("shortfall = 5", 'shortfall = 5\nhard = true\ntau = 3.0'), "program.shortfall", "soft and hard"),
    ("aggregative-game", ("[20, -10]", "[20]"), "program.target", "1 number for 2 rows"),
    ("aggregative-game", ("left,1,-0.5", "left,2,-0.5"), "program.contributions", "range"),
    ("aggregative-game", ("burn_in = 20", 'mode = "audited"'), "solution.mode", "packing"),
])
def test_what_a_file_must_not_say(of: str, edit: tuple[str, str], field: str, says: str, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as caught:
        campaign(tmp_path, edit, of=of).plan  # noqa: B018
    assert caught.value.field == field
    assert says in str(caught.value)


@pytest.mark.parametrize(("edits", "says"), [
    ((("epsilon = 20.0\ndelta = 1e-3\n\n[data]", "epsilon = 0.5\ndelta = 1e-3\n\n[data]"),), "would reserve"),
    ((("burn_in", 'mode = "average"\nmost_excess = 0.001\nburn_in'),), "excess"),
    ((("burn_in", 'mode = "tight"\nburn_in'),), "would reserve"),
])
def test_hopeless_plans_are_refused(edits: tuple[tuple[str, str], ...], says: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        campaign(tmp_path, *edits).plan  # noqa: B018
    assert says in str(caught.value)


def test_every_option_of_a_mode_is_a_key() -> None:
    common = {"program", "epsilon", "delta", "failure_probability", "neighbours", "start"}
    for mode, name in NAMES.items():
        own = {each.name for each in fields(getattr(programs, name)) if each.init} - common
        assert own == _OWN[mode]


@pytest.mark.parametrize("mode", [mode for mode in MODES if mode != "tight"])
def test_what_is_planned_is_what_runs(mode: str, tmp_path: Path) -> None:
    plan: Any = campaign(tmp_path, *EDITS[mode]).plan
    assert plan.mechanism == plan.outlook.mechanism
    assert plan.to_dict()["unused_share"] == pytest.approx(
        plan.mechanism.reserve.sum() / plan.mechanism.program.supply_units.sum() * 2**20)
    assert plan.to_dict()["noise_std"] == plan.mechanism.noise_std


def test_a_modes_own_keys_are_planned_with(tmp_path: Path) -> None:
    """They used to be left out of the outlook, so that hopeless shares were not refused."""
    quiet = ("burn_in", "audit_share = 0.05\nmost_unused = 0.95\nburn_in")
    assert campaign(tmp_path, quiet).plan.outlook.unused_share > 1.5 * campaign(tmp_path).plan.outlook.unused_share  # type: ignore[attr-defined]
    with pytest.raises(Refused, match="the margins of mode 'audited' would reserve"):
        campaign(tmp_path, ("burn_in", "audit_share = 0.0001\nburn_in")).plan  # noqa: B018
    stops: Any = campaign(tmp_path, ("burn_in", 'mode = "round"\nmost_unused = 0.95\ntruncate = true\nburn_in')).plan
    plain: Any = campaign(tmp_path, *EDITS["round"]).plan
    assert stops.outlook.unused_share > plain.outlook.unused_share


@pytest.mark.parametrize(("of", "highest", "alpha"), [("unit-demand", 10, 0.5), ("unit-demand", 200, 10),
                                                      ("flow", None, 0.125)])
def test_alpha_and_gains_are_in_the_files_own_unit(
    of: str, highest: float | None, alpha: float, tmp_path: Path,
) -> None:
    """Of values from 0 to 10, an alpha of half a point is .05 of the scale; pages, plan and promises say points."""
    edits = [("burn_in", f'mode = "truthful"\nalpha = {alpha}\nburn_in')]
    edits += [("highest = 10", f"highest = {highest}")] if highest else []
    plan: Any = campaign(tmp_path, *edits, of=of).plan
    unit = highest or 2.5  # the dearest arc
    assert plan.mechanism.alpha == pytest.approx(0.05)
    reported = plan.to_dict()
    assert (reported["alpha"], reported["gain"]) == (pytest.approx(alpha), plan.mechanism.gain * unit)
    page = words(plan.sections())
    name = "points" if highest else "units of cost"
    assert reported["unit"] == name
    assert f"'{alpha:.4g} {name}'" in page
    assert f"costs them at most {alpha:.4g} {name} more than its value to them" in page
    assert f"no lie gains more than {plan.mechanism.gain * unit:.4g} {name}" in page
    assert "in units of 10" not in page
    assert "from 0 to" in page if highest else "as the file's costs are" in page
    rows = {row[0]: row for row in plan.sections()[1].blocks[0].rows}
    found = {mode: each for mode, each in plan.others if not isinstance(each, str)}
    assert found["audited"].mechanism.alpha == plan.mechanism.alpha  # others have the file's alpha, where they charge
    assert found["truthful"] is plan.outlook
    assert found["average"].alpha is None
    assert rows["average"][3] == "no promise"


def test_refusals_and_plans_are_in_the_files_units_and_names(tmp_path: Path) -> None:
    """Inside, a knapsack's weights are shares of the largest, and its rows are numbered."""
    scarce = ("epsilon = 20.0\ndelta = 1e-3\n\n[data]", "epsilon = 0.5\ndelta = 1e-3\n\n[data]")
    with pytest.raises(Refused, match=r"would reserve .* times as large with"):  # rows differ: told in shares
        campaign(tmp_path, scarce, of="knapsack").plan  # noqa: B018
    with pytest.raises(InvalidInput, match=(
            r"program\.least_weight: 9 of .* is above the largest_weight of this resource; at most")):
        campaign(tmp_path, ("least_weight = [0.5, 0.1]", "least_weight = [9, 0.1]"), of="knapsack").plan  # noqa: B018
    with pytest.raises(Refused, match=r"row '[abc]' would reserve [\d,.e+]+ times its supply"):
        campaign(tmp_path, ("burn_in", 'mode = "tight"\nburn_in')).plan  # noqa: B018
    plan: Any = campaign(tmp_path, of="knapsack").plan
    units, it = plan.coding.load_units, plan.mechanism
    lines = {row[0]: row[1] for row in plan.sections()[0].blocks[0].rows}
    assert units.min() != 1.0 or units.max() != 1.0
    assert lines["noise of the audit, standard deviation"].startswith(f"{(it.audit_noise_std * units).min():,.4g}")


def test_a_refusal_multiplies_supplies_in_the_units_it_is_reported() -> None:
    """236 shares of a largest weight of 8 are 1,888 in the file."""
    program, text = Knapsack(1000, (20.0,), least_weight=0.5), []
    for units in (None, [8.0]):
        with pytest.raises(Refused) as caught:
            plan_programs(program, epsilon=0.5, delta=1e-6, timed=False, load_units=units)
        text.append(float(caught.value.remedy.split("supplies of ")[1].split(" with")[0].replace(",", "")))
    assert text[1] == 8 * text[0]


def test_a_share_of_nothing_says_what_was_missed_and_prices_are_in_the_files_order(tmp_path: Path) -> None:
    it = campaign(tmp_path, *EDITS["average"])
    outcome, _ = it.study(2)
    plan, kind = it.plan, it.file.kind
    tables = [block for block in kind.result(plan, outcome)[0].blocks if isinstance(block, Table)]
    names = [row[0] for row in tables[0].rows]
    assert names == ["a", "b", "c"]
    shown = words(kind.result(plan, outcome))
    assert "for one unit of the row" in shown
    assert "holds in place of the first bound, but not together with it" in shown
    reported = [words(kind.explain(plan, outcome, *kind.record(it.file.config, plan, tmp_path, str(identity))))
                for identity in range(1, 60)]
    nothing = [text for text in reported if ": nothing'" in text]
    assert nothing
    assert all("Without prices, your best choice is" in text and "its price on average was" in text for text in nothing)


def test_refusals_name_the_files_modes(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        campaign(tmp_path, ("burn_in", 'mode = "tight"\nburn_in')).plan  # noqa: B018
    assert "TightDude" not in str(caught.value)
    assert "the margins of mode 'tight' would reserve the whole supply of a row: row 'b' would" in caught.value.reason
    assert "a larger alpha" in caught.value.remedy
    with pytest.raises(InvalidInput) as bad:
        campaign(tmp_path, ("burn_in = 20", 'mode = "audited"'), of="aggregative-game").plan  # noqa: B018
    assert "mode 'audited' needs a packing program" in str(bad.value)
    assert "mode 'average' works for any program" in str(bad.value)
    with pytest.raises(InvalidInput, match=r"solution\.alpha: .* times 10 points"):
        campaign(tmp_path, ("burn_in", 'mode = "truthful"\nalpha = 1e-8\nburn_in')).plan  # noqa: B018


def test_goods_by_table_are_the_same(tmp_path: Path) -> None:
    listed = 'goods = ["a", "b", "c"]\nsupply = [60, 50, 70]\n'
    named = campaign(tmp_path).plan.mechanism
    tabled = campaign(tmp_path, (listed, 'table = """\nname,supply\na,60\nb,50\nc,70\n"""\n')).plan.mechanism
    assert named == tabled
    for table in ("name,copies\na,2", "name,supply\na", "name,supply\na,0", "name,supply\na,x", "name,supply",
                  'name,supply\n"a,2'):
        with pytest.raises(InvalidInput, match=r"program\.(table|goods)"):
            campaign(tmp_path, (listed, f'table = """{table}"""\n'))


def test_the_template_and_the_examples_are_worth_planning(tmp_path: Path) -> None:
    text = kind("program").template
    (tmp_path / "program.toml").write_text(text)
    assert tomllib.loads(text)["solution"] == {"mode": "audited"}
    examples = (EXAMPLES / f"{name}.toml" for name in ("classes", "commute", "charging"))
    for path in (tmp_path / "program.toml", *examples):
        plan: Any = Campaign.load(path).plan
        assert plan.outlook.settles
        kept = plan.reserve / plan.coding.supplies
        assert (kept > 0.0).all() if plan.whole else plan.outlook.excess_share < 0.1
        assert (kept < 0.2).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["classes", "commute", "charging"])
def test_the_examples_certificates_say_something(name: str, tmp_path: Path) -> None:
    it = Campaign.load(EXAMPLES / f"{name}.toml")
    assert it.check().usable == it.file.config.people.count
    outcome, parts = it.study(3, tmp_path / "study")
    assert not outcome.certificate.vacuous  # type: ignore[union-attr]
    best = parts[0].blocks[0].rows[-1][1]  # type: ignore[union-attr]
    assert "optimum" in parts[0].blocks[0].rows[-1][0]  # type: ignore[union-attr]
    value = outcome.diagnostics["value"] * it.plan.coding.unit  # type: ignore[attr-defined, index]
    assert 0.85 * best < value < 1.03 * best


def test_a_refusal_calls_modes_and_rows_by_the_names_it_is_given() -> None:
    program = UnitDemand(400, 200, goods=3)
    names: dict[str, Any] = {"mode_names": {"TightDude": "the tight one"}, "row_names": ("bread", "PrivDude", "salt")}
    plain, named = ("margins of TightDude", "row 0 would"), ("margins of the tight one", "row bread would")
    for given, said in (({}, plain), (names, named)):
        with pytest.raises(Refused) as caught:
            plan_programs(program, epsilon=1.0, delta=1e-6, mode="TightDude", timed=False, **given)
        assert all(one in caught.value.reason for one in said)
    with pytest.raises(InvalidInput, match="row_names: has 2 entries; must have 3"):
        plan_programs(program, epsilon=1.0, delta=1e-6, timed=False, row_names=("a", "b"))
    with pytest.raises(InvalidInput, match="load_units: has 1 entry; must have"):
        plan_programs(program, epsilon=1.0, delta=1e-6, timed=False, load_units=[2.0])
    with pytest.raises(InvalidInput, match="mode_names"):
        plan_programs(program, epsilon=1.0, delta=1e-6, timed=False, mode_names={"Nothing": "x"})

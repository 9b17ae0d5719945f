"""A mechanism that is not confide's is released once for one charge: noise that is kept, and code that stays."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from confide.campaign import Campaign, Home, State, Store
from confide.campaign.own_runs import code_digest, same_code
from confide.contract import InvalidInput, Refused, RunFailed
from confide.privacy.noise import JournalNoise, Noise
from people.own_packages import commute, histogram_module, installed_histogram, installed_module


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    with installed_histogram(tmp_path / "site", monkeypatch) as found:
        yield found


@pytest.fixture
def path(tmp_path: Path, site: Path) -> Path:
    return commute(tmp_path)


class Drawing:
    """A run that notes its noisy answers, and fails on them where it was told to."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, *, fails: bool) -> None:
        self.drawn: list[list[int]] = []
        self.fails = fails
        true = histogram_module().NoisyHistogram.run

        def run(it: Any, data: Any, noise: Any) -> Any:
            outcome = true(it, data, noise)
            if noise.kind == "secure":
                self.drawn.append(outcome.billboard.people.tolist())
                if self.fails:
                    raise ValueError("by its own noise")
            return outcome

        monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)


def state(path: Path) -> State:
    with Store() as store:
        found = store.find(Campaign.load(path).file)
        assert found is not None
        return found.state


def failed(path: Path, monkeypatch: pytest.MonkeyPatch) -> Drawing:
    drawing = Drawing(monkeypatch, fails=True)
    with pytest.raises(RunFailed, match="and the same noise"):
        Campaign.load(path).settle()
    return drawing


def test_a_run_that_failed_gets_the_same_noise_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawing = failed(path, monkeypatch)
    for _ in range(3):
        with pytest.raises(RunFailed):
            Campaign.load(path).settle()
    drawing.fails = False  # what disturbed it is gone
    settled = Campaign.load(path).settle()
    assert settled.fresh
    board: Any = settled.outcome.billboard
    assert len(drawing.drawn) == 5
    assert set(map(tuple, drawing.drawn)) == {tuple(board.people.tolist())}
    with Store() as store:
        assert not (store.home.folder / "noise").exists()  # what was kept is destroyed


def test_a_run_that_fails_before_it_draws_is_begun(path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        true = histogram_module().NoisyHistogram.run
        broken.setattr(histogram_module().NoisyHistogram, "run",
                       lambda it, data, noise: 1 // 0 if noise.kind == "secure" else true(it, data, noise))
        with pytest.raises(RunFailed):
            Campaign.load(path).settle()
    changed(site)
    with pytest.raises(Refused, match="In the meantime, the code was changed"):
        Campaign.load(path).settle()


def changed(site: Path) -> None:
    file = site / "private_histogram" / "__init__.py"
    file.write_text(file.read_text() + "\n# mended\n")


def test_mended_code_is_another_campaign(path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        failed(path, broken)
    code = (site / "private_histogram" / "__init__.py").read_text()
    changed(site)
    with pytest.raises(Refused, match="another campaign for the corrected mechanism, with its own title and charge"):
        Campaign.load(path).settle()
    assert state(path) is State.CHARGED
    (site / "private_histogram" / "__init__.py").write_text(code)
    assert Campaign.load(path).settle().fresh


def interrupted(*_: Any) -> None:
    raise KeyboardInterrupt


def test_code_that_was_not_run_yet_may_be_mended(path: Path, site: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charged, and dead before the run: nothing was drawn."""
    from confide.campaign import settlement

    with monkeypatch.context() as dying:
        dying.setattr(settlement, "_run_and_publish", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Campaign.load(path).settle()
    assert state(path) is State.CHARGED
    changed(site)
    assert Campaign.load(path).settle().fresh


def test_who_withdraws_after_a_failure_ends_the_campaign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        failed(path, broken)
    Campaign.load(path).withdraw("7")
    with pytest.raises(Refused, match="In the meantime, a participant has withdrawn"):
        Campaign.load(path).settle()


def test_who_withdraws_during_a_run_that_ends_has_it_forgotten(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As with confide's own mechanisms: nobody has seen anything of that run."""
    true, left = histogram_module().NoisyHistogram.run, ["7", "8"]

    def run(it: Any, data: Any, noise: Any) -> Any:
        outcome = true(it, data, noise)
        if noise.kind == "secure" and left:
            Campaign.load(path).withdraw(left.pop())
        return outcome

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    settled = Campaign.load(path).settle()
    assert settled.fresh
    assert settled.outcome.shares["same_answer"].null_count == 0
    assert not left


def test_a_journal_that_is_gone_ends_the_campaign(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil

    with monkeypatch.context() as broken:
        failed(path, broken)
    with Store() as store:
        shutil.rmtree(store.home.folder / "noise")
    with pytest.raises(InvalidInput, match="the run must not draw its noise a second time"):
        Campaign.load(path).settle()


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_with_its_noise(path: Path, site: Path, tmp_path: Path) -> None:
    """kill -9 after the draw."""
    code = textwrap.dedent(f"""
        import os, signal, sys
        import private_histogram as it
        from confide.campaign import Campaign
        true = it.NoisyHistogram.decode
        def decode(self, record, index, billboard):
            with open({str(tmp_path / 'drawn')!r}, "a") as file:
                print(billboard.people.tolist(), file=file)
            os.kill(os.getpid(), signal.SIGKILL)
        campaign = Campaign.load({str(path)!r})
        campaign.plan
        it.NoisyHistogram.decode = decode
        campaign.settle()
    """)
    there = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *sys.path])}
    for _ in range(2):
        assert subprocess.run([sys.executable, "-c", code], env=there, check=False).returncode == -9
    board: Any = Campaign.load(path).settle().outcome.billboard
    assert (tmp_path / "drawn").read_text().splitlines() == [str(board.people.tolist())] * 2


def test_after_the_charge_nothing_is_tried_out(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trial that fails then would keep people from their shares."""
    Campaign.load(path).settle()
    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", lambda *_: 1 // 0)
    it = Campaign.load(path)
    assert it.settle().fresh is False
    assert it.share("7")
    assert it.audit().rows


def test_what_is_charged_and_not_run_is_not_tried_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as broken:
        failed(path, broken)
    true, seen = histogram_module().NoisyHistogram.run, list[str]()

    def run(it: Any, data: Any, noise: Any) -> Any:
        seen.append(noise.kind)
        return true(it, data, noise)

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    assert Campaign.load(path).settle().fresh
    assert seen == ["secure"]


def test_what_another_installation_has_charged_is_not_tried_again(
    path: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a service whose settings name a home: the default one has charged nothing."""
    elsewhere = Home(tmp_path / "elsewhere")
    with Store(home=elsewhere) as store:
        assert Campaign.load(path).settle(store=store).fresh
    seen = list[str]()
    true = histogram_module().NoisyHistogram.run

    def run(it: Any, data: Any, noise: Any) -> Any:
        seen.append(noise.kind)
        return true(it, data, noise)

    monkeypatch.setattr(histogram_module().NoisyHistogram, "run", run)
    file = Campaign.load(path).file
    assert Campaign(file, elsewhere).plan.mechanism
    assert seen == []
    assert Campaign(file).plan.mechanism
    assert "simulated" in seen
    assert not (home / "charged").exists()


def test_a_run_that_waits_goes_on_with_its_code_alone(path: Path, site: Path, tmp_path: Path) -> None:
    campaign = Campaign.load(path)
    with JournalNoise(tmp_path / "noise" / "journal", Noise.simulated(1)) as noise:
        same_code(campaign, noise)
        same_code(campaign, noise)
    changed(site)
    with JournalNoise(tmp_path / "noise" / "journal", Noise.simulated(1), existing=True) as noise, \
            pytest.raises(Refused, match="In the meantime, the code was changed"):
        same_code(campaign, noise)


def test_code_in_no_file_is_not_charged(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    typed = type("Typed", (), {"__module__": "typed_in"})
    with pytest.raises(InvalidInput, match="the code of typed_in is not in a file"):
        code_digest(typed())
    monkeypatch.delattr(histogram_module(), "__file__")
    with pytest.raises(InvalidInput, match="is not in a file"):
        Campaign.load(path).settle()
    with Store() as store:
        assert store.data_sets() == ()


def test_the_outermost_package_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inner = tmp_path / "whole" / "inner"
    inner.mkdir(parents=True)
    (tmp_path / "whole" / "__init__.py").touch()
    (inner / "__init__.py").write_text("class It: pass\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    import whole.inner  # type: ignore[import-not-found]

    it = whole.inner.It()
    before = code_digest(it)
    (inner / "notes.txt").write_text("no code")
    assert code_digest(it) == before
    (tmp_path / "whole" / "beside.py").write_text("x = 1\n")
    assert code_digest(it) != before
    monkeypatch.delitem(sys.modules, "whole")
    monkeypatch.delitem(sys.modules, "whole.inner")


OWN_KIND = '''
import numpy as np
from confide.campaign.kinds import matching as theirs
from confide.contract import InvalidInput

SHOWN = []


class OwnKind(theirs.MatchingKind):
    name = "own-matching"
    template = theirs.KIND.template.replace('kind = "matching"', 'kind = "own-matching"')
    fails = True

    def tables(self, plan, outcome):
        SHOWN.append(np.asarray(outcome.billboard.prices).tolist())
        if self.fails:
            raise InvalidInput("prices", f"{SHOWN[-1]} cannot be shown")
        return super().tables(plan, outcome)


KIND = OwnKind()
'''


def test_a_kind_of_ones_own_on_a_mechanism_of_confides_is_one_release_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may fail by what it makes of the outcome: the same outcome again, of which nothing is told."""
    module = tmp_path / "own.py"
    module.write_text(OWN_KIND)
    points = {"own-matching": "own_matching:KIND"}
    with installed_module(module, "own_matching", points, tmp_path / "site", monkeypatch):
        import own_matching

        rows = "".join(f"{i},{i % 100},{i * 7 % 100},{i * 13 % 100},{i * 29 % 100}\n" for i in range(1, 601))
        (tmp_path / "wishes.csv").write_text("id,algebra,drawing,law,music\n" + rows)
        path = tmp_path / "own.toml"
        path.write_text(own_matching.KIND.template)
        for _ in range(3):
            with pytest.raises(RunFailed, match="and the same noise") as caught:
                Campaign.load(path).settle()
            assert not any(str(price) in str(caught.value) for price in own_matching.SHOWN[-1])
        assert len(set(map(tuple, own_matching.SHOWN))) == 1
        code = tmp_path / "site" / "own_matching" / "__init__.py"
        kept = code.read_text()
        code.write_text(kept + "\n# another\n")
        with pytest.raises(Refused, match="In the meantime, the code was changed"):
            Campaign.load(path).settle()
        code.write_text(kept)
        own_matching.OwnKind.fails = False  # what disturbed it is gone
        board: Any = Campaign.load(path).settle().outcome.billboard
        assert board.prices.tolist() == own_matching.SHOWN[0]

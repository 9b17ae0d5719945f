"""`confide offer` for participants, `confide check` for the operator alone."""

from __future__ import annotations

import re
import stat
from pathlib import Path

from campaign.pages import self_contained
from campaign.small import rows, tree, write
from cli.commands import INJECTED, Run
from confide.campaign import Campaign, Home


def test_offer(run: Run, path: Path, tmp_path: Path) -> None:
    path.with_name("answers.csv").unlink()
    found = run("offer", path)
    assert (found.code, found.err) == (0, "")
    assert "You report pay, which must be in [0, 80] (unit: euro), and also" in " ".join(found.out.split())
    assert "Guarantees" not in found.out
    spoken = run("offer", path, "--json").json
    *offered, check = spoken["sections"]
    assert offered == run("plan", path, "--json").json["offer"]
    assert Home.default().fingerprint in found.out
    assert Home.default().fingerprint in check["blocks"][0]["text"][0]
    written = run("offer", path, "--html", tmp_path / "offer.html")
    assert written.out == f"{found.out}\nwrote {tmp_path / 'offer.html'}\n"
    words = self_contained((tmp_path / "offer.html").read_text()).words
    assert "What you report" in words
    again = run("offer", path, "--html", tmp_path / "offer.html")
    assert (again.code, again.out) == (2, "")
    assert "offer.html exists; choose another file with --html" in again.err


def test_the_page_of_a_run_holds_the_offer(run: Run, settled: tuple[Path, Path]) -> None:
    offered = Campaign.load(settled[0]).offer()[0]
    words = self_contained((settled[1] / "report.html").read_text()).words
    assert offered.title in words
    assert all(paragraph in words for paragraph in offered.blocks[0].paragraphs)


def test_check(run: Run, tmp_path: Path) -> None:
    lines = [INJECTED.get(i + 1, line) for i, line in enumerate(rows())] + ["41,40.5,male,41.5"]
    path = write(tmp_path, lines=lines)
    before = tree(tmp_path)
    found = run("check", path)
    assert (found.code, found.err) == (0, "")
    assert tree(tmp_path) == before  # it writes nothing
    assert found.out.count("private: for the operator alone") == found.out.count(" PRIVATE ") == 2
    for line in (r"rows read +2,001", r"usable records +1,997", r"rejected rows +4",
                 r"slots without a usable record.* 3",
                 r"age: is out of bounds; must be in \[20, 60\] \(unit: year\) +1",
                 r"41 +sex: is not a level", r"41 \(row 2001\) +a later row of the same id"):
        assert re.search(line, found.out), line
    assert "sex: 1 cell is not a level" in found.out
    assert "sentinel" not in found.out
    assert "987654" not in found.out
    spoken = run("check", path, "--json").json
    assert (spoken["private"], spoken["rows"], spoken["usable"], spoken["rejected"]) == (True, 2001, 1997, 4)
    assert sum(spoken["reasons"].values()) == 4
    assert [each["id"] for each in spoken["first"]] == ["17", "41", "163", "41 (row 2001)"]
    assert spoken["written"] is None


def test_check_shows_the_first_and_lists_all(run: Run, tmp_path: Path) -> None:
    path = write(tmp_path, lines=[f"{line.split(',')[0]},99,male,41" if i % 50 == 0 else line
                                  for i, line in enumerate(rows())])
    said = " ".join(run("check", path).out.split())  # and it exits 2: a run would stop
    assert "The table shows the first 10 of 40 rejected rows; --write lists all." in said
    listed = tmp_path / "rejected.csv"
    found = run("check", path, "--write", listed)
    assert found.out.endswith(f"wrote {listed} (private: for the operator alone)\n")
    assert len(listed.read_text().splitlines()) == 41
    assert stat.S_IMODE(listed.stat().st_mode) == 0o600
    kept = tree(tmp_path)
    for place, says in ((listed, "exists; choose another file"), (tmp_path, "exists; choose another file"),
                        (tmp_path / "no" / "list.csv", "cannot be written")):
        refused = run("check", path, "--write", place)
        assert (refused.code, refused.out) == (2, "")
        assert f"{place} {says}" in refused.err
        assert tree(tmp_path) == kept
    nowhere = run("check", path, "--write", "-")
    assert (nowhere.code, nowhere.out) == (2, "")
    assert "write: - is not a file; name a file: this command writes nothing to the standard output" in nowhere.err
    assert not Path("-").exists()
    assert run("check", path, "--write", tmp_path / "again.csv", "--json").json["written"] == f"{tmp_path}/again.csv"
    assert run("run", path, "--accept-unusable", "--json").json["stored"] is False  # a check's list is in nobody's way
    assert not list((tmp_path / "out").rglob("*reject*"))
    assert run("ledger").out.count("pay survey") == 2  # a run has charged, a check has not


def test_check_of_clean_records(run: Run, path: Path) -> None:
    found = run("check", path)
    assert "Rejected rows" not in found.out
    assert re.search(r"rejected rows +0\b", found.out)
    assert run("check", path, "--json").json["first"] == []


def test_privacy_in_name_only_is_warned_of(run: Run, tmp_path: Path) -> None:
    """It is finite, so that it says something; nobody should take part for it, or pay for it."""
    path = write(tmp_path, ("epsilon = 7.0", "epsilon = 2000"), ("epsilon_release = 4.0", "epsilon_release = 1000.5"))
    said = ("the promise of privacy towards all other people together, for the published result and their payments, is "
            "epsilon = 1002.5. Such a promise hides hardly anything about a person. ")
    for arguments in (("plan", path), ("plan", path, "--json")):
        found = run(*arguments)
        assert found.code == 0
        assert f"confide: warning: {said}" in found.err
        assert "e^1002.5 = 10^436" in found.out
    offered = run("offer", path, "--json").json["sections"][0]
    assert offered["title"] == "Warning"
    assert offered["blocks"][0]["text"][0].startswith(said.replace("the", "The", 1))
    assert "They may guess right in just under 100% of all cases." in offered["blocks"][0]["text"][0]

    sound = write(tmp_path / "sound")
    assert "hardly anything" not in run("plan", sound).err
    assert run("offer", sound, "--json").json["sections"][0]["title"] != "Warning"

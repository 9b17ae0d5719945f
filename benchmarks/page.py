"""The page in the docs, made from the JSON results alone."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.report import Report

TARGETS = ("figure", "target", "measured", "verdict", "")


def cell(value: Any) -> str:
    """A number to three digits, a text as it is."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return str(value)
    if isinstance(value, int) or abs(value) >= 1000:
        return f"{value:,.0f}"
    digits = f"{value:.3g}"
    return digits if "e" not in digits or abs(value) < 1e-4 else f"{value:.4f}"


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> list[str]:
    """A Markdown table; numbers stand right."""
    right = [all(isinstance(row[k], int | float) for row in rows) for k in range(len(columns))]
    lines = ["| " + " | ".join(columns) + " |", "|" + "|".join("---:" if r else "---" for r in right) + "|"]
    return lines + ["| " + " | ".join(cell(value).replace("|", "\\|") for value in row) + " |" for row in rows]


def target_rows(targets: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One row per target; a miss says so in capitals."""
    return [
        (
            target["what"],
            f"{'at least' if target['at_least'] else 'at most'} {cell(target['limit'])} {target['unit']}".strip(),
            f"{cell(target['measured'])} {target['unit']}".strip(),
            "met" if target["met"] else "**MISSED**",
            target["note"],
        )
        for target in targets
    ]


def section(content: Mapping[str, Any]) -> list[str]:
    """One subject: how, targets, tables."""
    lines = [f"## {content['title']}", ""]
    lines += [f"- {sentence}" for sentence in content["method"]]
    if content["findings"]:
        lines += ["", *content["findings"]]
    if content["targets"]:
        lines += ["", "### Targets", "", *table(TARGETS, target_rows(content["targets"]))]
    for part in content["tables"]:
        lines += ["", f"### {part['title']}", "", *table(part["columns"], part["rows"])]
        if part["note"]:
            lines += ["", part["note"]]
    return lines


def text(report: Report) -> str:
    """One subject for the terminal."""
    content = asdict(report)
    content["targets"] = [{**asdict(target), "met": target.met} for target in report.targets]
    return "\n".join([*section(content), ""])


def render(folder: Path, names: Sequence[str]) -> str:
    """The whole page."""
    found = {name: json.loads(path.read_bytes()) for name in names if (path := folder / f"{name}.json").exists()}
    missed = [(content["title"], row) for content in found.values()
              for row in target_rows([target for target in content["targets"] if not target["met"]])]
    count = sum(len(content["targets"]) for content in found.values())
    lines = [
        "# Benchmarks", "",
        "`python -m benchmarks --page` makes this page from the files in `benchmarks/results`, which `make bench` "
        "writes. No figure here was typed by hand.", "",
        f"{count - len(missed)} of {count} targets are met."
        + (" These targets are missed:" if missed else ""),
    ]
    if missed:
        lines += ["", *table(("subject", *TARGETS), [(title, *row) for title, row in missed])]
    lines += ["", *table(("subject", "targets met", "measured on", "command"), _contents(found))]
    for name in names:
        lines.append("")
        if name not in found:
            lines.append(f"*No result for `{name}`.*")
            continue
        lines += [*section(found[name]), "", _where(found[name])]
    return "\n".join(lines) + "\n"


def _contents(found: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """One line a subject: what is there, and the command that measures it anew."""
    return [(f"[{content['title']}](#{_anchor(content['title'])})",
             f"{sum(target['met'] for target in content['targets'])} of {len(content['targets'])}",
             f"{content['date']}, {content['machine']['cpu']}, {content['machine']['cores']} cores",
             f"`python -m benchmarks {name}`") for name, content in found.items()]


def _anchor(title: str) -> str:
    """Where a heading can be linked to, as GitHub and MyST name it."""
    return "".join(each for each in title.lower().replace(" ", "-") if each.isalnum() or each in "-_")


def _where(content: Mapping[str, Any]) -> str:
    facts = content["machine"]
    libraries = ", ".join(f"{name} {number}" for name, number in facts["libraries"].items())
    return (
        f"*Measured on {content['date']}{' at small sizes (--quick)' if content['quick'] else ''}: {facts['cpu']}, "
        f"{facts['cores']} cores, {facts['memory_gb']:g} GB, {facts['system']}, Python {facts['python']}, {libraries}.*"
    )

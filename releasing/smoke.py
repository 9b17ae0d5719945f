"""What a fresh installation has to do: run by the Python of a clean environment, with the version as its argument.

It imports nothing but the standard library and confide, and works in the folder in which it is started.
"""

from __future__ import annotations

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

KIND = "matching"
EXTRAS = ("altair", "vl_convert", "duckdb", "ray", "cvxpy", "psycopg", "fastapi", "pytest")
"""Modules of extras, none of which a core installation has."""


def confide(*words: str, code: int = 0) -> str:
    """Run a command; what it prints."""
    done = subprocess.run([Path(sys.executable).with_name("confide"), *words], capture_output=True, text=True,
                          check=False)
    if done.returncode != code:
        raise SystemExit(f"confide {' '.join(words)} ended with {done.returncode}, not {code}:\n{done.stdout[-2000:]}\n"
                         f"{done.stderr[-2000:]}")
    print(f"  confide {' '.join(words)}", flush=True)
    return done.stdout


def check(found: object, wanted: object, what: str) -> None:
    """End where something is otherwise."""
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def importing(version: str) -> None:
    """The package is this environment's, of the version, typed, and without extras."""
    import confide as cf

    there = Path(cf.__file__).parent
    check(there.is_relative_to(sys.prefix), True, f"{there} lies in the environment")
    check(cf.__version__, version, "version")
    check((there / "py.typed").exists(), True, "py.typed is there")
    check([each for each in EXTRAS if find_spec(each)], [], "modules of extras")
    check([each for each in cf.__all__ if getattr(cf, each, None) is None], [], "public names that are not there")


def campaign() -> None:
    """One campaign from its template to its verification, with simulated noise and with secure noise."""
    file, out = f"{KIND}.toml", f"out/{KIND}"
    rows = [f"{i},{i * 37 % 101},{i * 53 % 101},{i * 71 % 101},{i * 89 % 101}" for i in range(1, 601)]
    Path("wishes.csv").write_text("\n".join(["id,algebra,drawing,law,music", *rows]) + "\n", encoding="utf-8")
    plan = json.loads(confide("plan", file, "--json"))
    check(plan["guarantees"][0]["vacuous"], False, "the first promise says nothing")
    study = json.loads(confide("run", file, "--noise", "simulated", "--seed", "7", "--json"))
    check((study["noise"], study["release_safe"]), ("simulated", False), "the study")
    settled = json.loads(confide("run", file, "--json"))
    check((settled["noise"], settled["release_safe"], settled["stored"]), ("secure", True, False), "the settlement")
    check(json.loads(confide("run", file, "--json"))["stored"], True, "a second run settles nothing")
    stated = json.loads(confide("share", file, "--id", "17", "--json"))["sections"]
    typed = ",".join(f"{name}={value}" for name, value in zip(
        ("algebra", "drawing", "law", "music"), rows[16].split(",")[1:], strict=True))
    own = json.loads(confide("share", file, "--id", "17", "--record", typed, "--write", "own.json", "--json"))
    check(own["sections"], stated, "the share that a participant computes is the one that the operator computes")
    verified = json.loads(confide("verify", out, "--own", "own.json", "--json"))
    check((verified["passed"], verified["complete"]), (True, True), "the pack")
    confide("migrate", file)


def main(version: str) -> None:
    """Everything."""
    importing(version)
    check(confide("--version"), f"confide {version}\n", "version")
    confide("--help")
    for kind in json.loads(confide("kinds", "--json"))["kinds"]:
        confide("init", kind)
        confide("plan", f"{kind}.toml")
    campaign()
    confide("verify", "nowhere", code=2)


if __name__ == "__main__":
    main(sys.argv[1])

"""The script behind `make demo`. It runs the main commands on real data, one after another."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

__all__ = ["main"]

CAMPAIGN = "examples/wages.toml"
STEPS = (
    ("Promises of the campaign, before any data is read", ["plan", CAMPAIGN]),
    ("Collect records from 61,395 people, settle once with secure noise, publish", ["run", CAMPAIGN]),
    ("Payment of participant 17, and why the truth pays", ["share", CAMPAIGN, "--id", "17"]),
    ("Anybody can check the pack, without a network connection and without the operator",
     ["verify", "examples/out/wages"]),
    ("Privacy loss of people, by campaign", ["ledger", "--data-set", "CPS earnings 2005"]),
    ("A study: the same campaign with simulated noise, beside the fit without privacy",
     ["run", CAMPAIGN, "--noise", "simulated", "--seed", "7"]),
    ("Promised against measured", ["audit", CAMPAIGN]),
)


def main() -> int:
    """Run all commands of the demo, and stop at the first command that fails."""
    start = time.monotonic()
    for title, arguments in STEPS:
        print(f"\n{'=' * 100}\n{title}\n$ confide {' '.join(arguments)}\n", flush=True)
        done = subprocess.run([sys.executable, "-m", "confide", *arguments], check=False)  # noqa: S603 - own command
        if done.returncode:
            return done.returncode
    page, study = Path("examples/out/wages/report.html"), Path("examples/out/wages-study/report.html")
    print(f"\nDone in {time.monotonic() - start:.0f} seconds. Open {page} (public) and {study} (a study, private).")
    return 0


if __name__ == "__main__":
    sys.exit(main())

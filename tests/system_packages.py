"""Installs what the tests need of the system, where it is missing and may be: PostgreSQL, Chromium, node, npm.

`make test` runs this first. It never fails: without them their tests are skipped, or fail in CI, and a line here says
so. No server is started, and none is set up to start: the tests make clusters of their own.
"""

from __future__ import annotations

import os
import shutil
import subprocess

from databases import find_postgresql

# Debian's package makes a cluster that runs from then on, unless this setting is there while it is installed.
_INSTALL = """
folder=/etc/postgresql-common/createcluster.d
setting=$folder/confide-tests.conf
trap 'rm -f "$setting"; rmdir "$folder" 2>/dev/null' EXIT
mkdir -p "$folder" && echo 'create_main_cluster = false' > "$setting"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
apt-get install -qq --yes --no-install-recommends -o DPkg::Lock::Timeout=120 "$@"
"""
_FOUND = {"postgresql": lambda: find_postgresql() is not None, "chromium": lambda: shutil.which("chromium") is not None,
          "nodejs": lambda: shutil.which("node") is not None, "npm": lambda: shutil.which("npm") is not None}
"""Debian's packages, and whether what is needed of each is there."""


def main() -> None:
    """Install what is missing, or say in a line that it is."""
    missing = _missing()
    if not missing:
        return
    failed = ""
    if (root := _root()) is not None:
        print(f"installing Debian's {', '.join(missing)} for the tests (once)", flush=True)
        subprocess.run([*root, "sh", "-c", _INSTALL, "install", *missing], stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        missing, failed = _missing(), " (which failed just now)"
    if missing:
        print(f"missing: {', '.join(missing)}, so that tests on them are skipped (in CI they fail); Debian has them: "
              f"apt-get install --no-install-recommends {' '.join(missing)}{failed}")


def _missing() -> list[str]:
    return [name for name, there in _FOUND.items() if not there()]


def _root() -> list[str] | None:
    """What to put before a command so that root runs it; None where apt-get is missing or root cannot be had."""
    if shutil.which("apt-get") is None:
        return None
    if os.geteuid() == 0:
        return []
    sudo = ["sudo", "-n"]
    if shutil.which("sudo") and subprocess.run([*sudo, "true"], capture_output=True, check=False).returncode == 0:
        return sudo
    return None


if __name__ == "__main__":
    main()

"""Installs what the tests need of the system, where it is missing and where that is allowed: PostgreSQL.

`make test` runs this first. It never fails: without PostgreSQL its tests are skipped, or fail in CI, and one line here
says so. No server is started, and none is set up to start: the tests make clusters of their own.
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
apt-get install -qq --yes --no-install-recommends -o DPkg::Lock::Timeout=120 postgresql
"""


def main() -> None:
    """Install PostgreSQL, or say in a line that it is missing."""
    if find_postgresql() is not None:
        return
    asked = "apt-get install --no-install-recommends postgresql"
    if (root := _root()) is not None:
        print("installing Debian's package postgresql for the tests (once)", flush=True)
        subprocess.run([*root, "sh", "-c", _INSTALL], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL, check=False)
        if find_postgresql() is not None:
            return
        asked += " (which failed just now)"
    print(f"PostgreSQL is missing, so tests on it are skipped (in CI they fail); Debian has it: {asked}")


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

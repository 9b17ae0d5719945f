"""A real PostgreSQL for tests: throw-away clusters, reached by a socket in a temporary folder and by nothing else."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any, Self

# A shell keeps the server: it ends it and removes its folder when this process says so, and also when this process is
# killed, since that closes the pipe on which the shell waits. QUIT is an immediate shutdown; the server may not heed
# it yet while it starts, so it is repeated.
_KEEPER = """
programs=$1 folder=$2
shift 2
trap 'rm -rf "$folder"' EXIT
"$programs/initdb" --pgdata="$folder/data" --username=confide --auth=trust --encoding=UTF8 --locale=C \
    --no-sync --no-instructions || exit
exec 3<&0
"$programs/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= "$@" 3<&- &
server=$!
(trap exit TERM; read -r _ <&3; while kill -QUIT $server; do sleep 0.05; done) 2>/dev/null &
wait $server
kill $! 2>/dev/null
wait $!
"""
_PATIENCE = 120.0
"""Seconds that a start may take on a busy machine."""
_ROOM = 4 << 30
"""Free bytes without which a cluster does not go into memory."""


def find_postgresql() -> Path | None:
    """The folder of `initdb` and `postgres`: Debian's newest, else what PATH says; None where there is none."""
    def version(folder: Path) -> list[int]:
        return [int(part) for part in folder.parent.name.split(".")]

    debian = [folder for folder in Path("/usr/lib/postgresql").glob("[0-9]*/bin")
              if folder.parent.name.replace(".", "").isdecimal()]
    found = shutil.which("initdb")
    folders = [*sorted(debian, key=version, reverse=True), *([Path(found).resolve().parent] if found else [])]
    return next((folder for folder in folders if all((folder / name).is_file() for name in ("initdb", "postgres"))),
                None)


class Cluster:
    """A running PostgreSQL with an empty cluster of its own. It is gone when closed, and when its maker dies.

    Args:
        programs: the folder of `initdb` and `postgres`, from `find_postgresql`.
        fsync: flush every commit to the disk, as a server in earnest does; without, the cluster may be in memory.
    """

    def __init__(self, programs: Path, *, fsync: bool = False) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="confide-", dir=_place(durable=fsync)))
        account = _account()
        if account:
            os.chown(self.folder, account["user"], account["group"])
        options = [] if fsync else ["-c", "fsync=off", "-c", "full_page_writes=off"]
        self._log = tempfile.TemporaryFile()  # noqa: SIM115
        self._keeper = subprocess.Popen(
            ["sh", "-c", _KEEPER, "keeper", programs, self.folder, *options],
            stdin=subprocess.PIPE, stdout=self._log, stderr=subprocess.STDOUT, cwd=self.folder,
            env={**os.environ, "LC_ALL": "C"}, start_new_session=True, **account,
        )
        try:
            self._await_start()
        except BaseException:
            self.close()
            raise

    def url(self, name: str) -> str:
        """SQLAlchemy's URL of a database."""
        return f"postgresql+psycopg://confide@/{name}?host={self.folder}"

    def create(self, name: str) -> str:
        """Make an empty database; its URL."""
        self._execute("CREATE DATABASE {}", name)
        return self.url(name)

    def drop(self, name: str) -> None:
        """Remove a database, whoever is connected to it."""
        self._execute("DROP DATABASE {} WITH (FORCE)", name)

    def close(self) -> None:
        """End the server and remove its folder; the second time does nothing."""
        if not self._log.closed:
            self._keeper.communicate(b"\n")
            self._log.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.close()

    def _connect(self) -> Any:
        import psycopg

        return psycopg.connect(host=str(self.folder), user="confide", dbname="postgres", autocommit=True)

    def _execute(self, statement: str, name: str) -> None:
        from psycopg import sql

        with self._connect() as connection:
            connection.execute(sql.SQL(statement).format(sql.Identifier(name)))

    def _await_start(self) -> None:
        import psycopg

        deadline = time.monotonic() + _PATIENCE
        while True:
            try:
                self._connect().close()
            except psycopg.OperationalError as error:
                if self._keeper.poll() is not None or time.monotonic() > deadline:
                    self._log.seek(0)
                    log = self._log.read().decode(errors="replace")
                    raise RuntimeError(f"PostgreSQL did not start ({error}):\n{log}") from None
                time.sleep(0.02)
            else:
                return


def _place(*, durable: bool) -> str | None:
    """Where the folder goes: somewhere short, for a socket's path has at most 107 bytes, that every account may enter.

    In memory, a database is made in a seventh of the time.
    """
    memory = "/dev/shm"
    if not durable and os.access(memory, os.W_OK | os.X_OK) and shutil.disk_usage(memory).free > _ROOM:
        return memory
    return "/tmp" if os.access("/tmp", os.W_OK | os.X_OK) else None


def _account() -> dict[str, Any]:
    """As whom the server runs, for Popen: as who runs the tests, but PostgreSQL refuses to be root."""
    if os.geteuid() != 0:
        return {}
    names = {entry.pw_name: entry for entry in pwd.getpwall()}
    entry = names.get("postgres") or names["nobody"]
    return {"user": entry.pw_uid, "group": entry.pw_gid, "extra_groups": []}

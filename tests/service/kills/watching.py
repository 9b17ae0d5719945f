"""The public, who looks at campaigns all the time, and an operator who asks again until somebody answers."""

from __future__ import annotations

import http.client
import json
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from threading import Event, Thread
from typing import Any, Self

__all__ = ["Operator", "Public", "ask"]

_PATIENCE = 10.0  # seconds
_PAUSE = 0.05
_LAST = 120.0


def ask(port: int, method: str, path: str, *, token: str = "", body: object = None) -> tuple[int, bytes]:
    """One request on a connection of its own: status and body.

    Raises:
        OSError, http.client.HTTPException: there was no answer.
    """
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=_PATIENCE)
    try:
        headers = {**({"Authorization": f"Bearer {token}"} if token else {}),
                   **({} if body is None else {"Content-Type": "application/json"})}
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Operator:
    """Who asks over HTTP, and again where no answer comes.

    Args:
        port: of the service.
        token: of her session.
    """

    def __init__(self, port: int, token: str) -> None:
        self._port, self._token = port, token

    def __call__(self, method: str, path: str, body: object = None, *, status: int = 200) -> Any:
        """Ask until there is an answer, and hold its status: JSON."""
        last = time.monotonic() + _LAST
        while True:
            try:
                found, text = ask(self._port, method, f"/api/v1{path}", token=self._token, body=body)
            except (OSError, http.client.HTTPException):
                assert time.monotonic() < last
                time.sleep(10 * _PAUSE)
            else:
                assert found == status, (method, path, found, text)
                return json.loads(text)


class Public:
    """Somebody who fetches all that is public of some campaigns, over and over, in a thread of her own.

    Args:
        port: of the service.
        campaigns: their numbers.
    """

    def __init__(self, port: int, campaigns: Sequence[int]) -> None:
        self._port, self._campaigns = port, campaigns
        self.shown: dict[str, set[bytes]] = defaultdict(set)
        self.statuses: Counter[int] = Counter()
        self.unanswered, self.taken_back = 0, 0
        self._stop, self._thread = Event(), Thread(target=self._look, name="public")

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._stop.is_set():
            for number in self._campaigns:
                published = self._get(f"/api/v1/campaigns/{number}/pack.zip")
                self._get(f"/api/v1/campaigns/{number}/result")
                if published:  # else the page says where the campaign stands, which changes
                    self._get(f"/campaigns/{number}")
            self._stop.wait(_PAUSE)

    def _get(self, path: str) -> bool:
        try:
            status, body = ask(self._port, "GET", path)
        except (OSError, http.client.HTTPException):
            self.unanswered += 1
            return False
        self.statuses[status] += 1
        if status == 200:
            self.shown[path].add(body)
        elif path in self.shown:
            self.taken_back += 1
        return status == 200

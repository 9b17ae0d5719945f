"""One load on one database: serve, hand in at a fixed rate, and count what is stored."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any

from sqlalchemy import select

from confide.campaign import Home, Store
from confide.campaign.store import schema
from confide.contract import kind
from confide.service.access import Operators, Participant, Role
from confide.service.access.sessions import begin_participant
from confide.service.work import Drafts, Opened

_CONNECTIONS = 64


def prepared(store: Store, people: int) -> tuple[int, list[str]]:
    """An open campaign, and a session for each of its people."""
    operator = Operators(store).add("ada", "correct horse battery", Role.ADMIN)
    drafts = Drafts(store)
    text = kind("bits").template
    (line,) = [line for line in text.splitlines() if line.startswith("count = ")]
    number = drafts.open(drafts.new(text.replace(line, f"count = {people}"), operator.number).number).number
    with store.database.writing() as connection:
        return number, [begin_participant(connection, Participant(number, slot)) for slot in range(people)]


def answer_of(slot: int) -> str:
    """What each of them hands in: yes and no in no order."""
    return "yes" if (slot * slot + slot // 7) % 3 else "no"


def wrong(store: Store, number: int, people: int) -> int:
    """How many reports are lost, doubled, or another's, as the store has them."""
    opened = Opened(store).get(number)
    file, plan = opened.campaign.file, opened.campaign.plan
    sent = [file.kind.submission(file.config, plan, opened.identities[slot], {"report": answer_of(slot)})
            for slot in range(people)]
    with store.database.reading() as connection:
        rows = connection.execute(select(schema.report.c.slot, schema.report.c.report).where(
            schema.report.c.campaign_id == number)).all()
    stored = Counter((row.slot, bytes(row.report)) for row in rows)
    return (Counter(sent) - stored).total() + (stored - Counter(sent)).total()


async def hand_in(port: int, tokens: list[str], rate: int) -> list[float]:
    """Seconds from when each report was due to its answer."""
    took: list[float] = []
    free: asyncio.Queue[Any] = asyncio.Queue()
    for _ in range(_CONNECTIONS):
        free.put_nowait(await asyncio.open_connection("127.0.0.1", port))
    begin = time.perf_counter() + 0.1

    async def one(place: int, token: str) -> None:
        due = begin + place / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        body = json.dumps({"values": {"report": answer_of(place)}}).encode()
        reader, writer = await free.get()
        writer.write(b"PUT /api/v1/mine/report HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                     b"Authorization: Bearer " + token.encode() + b"\r\nContent-Length: "
                     + str(len(body)).encode() + b"\r\n\r\n" + body)
        head = await reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 204"):
            raise RuntimeError(head.decode("latin1"))
        took.append(time.perf_counter() - due)
        free.put_nowait((reader, writer))

    await asyncio.gather(*(one(place, token) for place, token in enumerate(tokens)))
    while not free.empty():
        _, writer = free.get_nowait()
        writer.close()
        await writer.wait_closed()
    return took


def main() -> None:
    """RATE SECONDS WORKERS URL HOME."""
    rate, seconds, workers = (int(each) for each in sys.argv[1:4])
    url, home = sys.argv[4] or None, Home(Path(sys.argv[5]))
    people = rate * seconds
    with Store(url, home=home) as store:
        number, tokens = prepared(store, people)
        with socket.socket() as found:
            found.bind(("127.0.0.1", 0))
            port = found.getsockname()[1]
        child = subprocess.Popen(
            [sys.executable, "-m", "confide", "serve", "--port", str(port), "--workers", str(workers), "--no-settling",
             *(["--store", url] if url else [])], stderr=subprocess.DEVNULL, env=dict(os.environ))
        try:
            _await(f"http://127.0.0.1:{port}/health/ready")
            asyncio.run(hand_in(port, tokens[:20], 20))  # processes warm up
            begin = time.perf_counter()
            took = sorted(asyncio.run(hand_in(port, tokens, rate)))
            whole = time.perf_counter() - begin
        finally:
            child.send_signal(signal.SIGTERM)
            child.wait(60)
        stored, differing = store.submitted(number), wrong(store, number, people)
    print(json.dumps({
        "sent": people, "acknowledged": len(took), "stored": stored, "wrong": differing, "seconds": whole,
        "p50_ms": 1000 * took[len(took) // 2], "p99_ms": 1000 * took[int(0.99 * len(took))],
        "worst_ms": 1000 * took[-1]}))


def _await(url: str) -> None:
    for _ in range(600):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:
            time.sleep(0.1)
    raise SystemExit("the service did not start")


if __name__ == "__main__":
    main()

"""The wire between a browser and the service: all of it, at both ends, and what it holds beyond what it has to."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit

from playwright.sync_api import BrowserContext, Page
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.web.browsing import kept, leaving

__all__ = ["Ears", "Observed", "Wire", "beyond"]

_ALIKE = ("host", "connection", "user-agent", "accept-encoding", "accept-language", "sec-ch-ua", "sec-ch-ua-mobile",
          "sec-ch-ua-platform")
"""Headers that a browser sends with every request: they have to be what they were before anything was typed."""

_FETCHED = {"accept": "application/json", "cache-control": "no-cache", "pragma": "no-cache", "sec-fetch-dest": "empty",
            "sec-fetch-mode": "cors", "sec-fetch-site": "same-origin"}
_OPENED = {"cache-control": "max-age=0", "sec-fetch-dest": "document", "sec-fetch-mode": "navigate",
           "sec-fetch-site": "same-origin", "upgrade-insecure-requests": "1"}
_BY_HAND = ("sec-fetch-user", "?1")  # a browser says so of what follows a click by less than a few seconds
_LOADED = {"/static/style.css", "/static/mark.svg", "/static/leave.js"}
"""What the page after it loads, if the browser has not kept it: with headers with which it was loaded before."""

_ELSEWHERE = """for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "WebTransport", "Worker",
                                    "SharedWorker", "BroadcastChannel"]) {
    if (globalThis[name] === undefined) continue;
    globalThis[name] = class { constructor() { wentElsewhere(name); } };
}
for (const [of, name] of [[navigator.serviceWorker, "register"], [globalThis, "open"], [globalThis, "postMessage"]]) {
    if (of !== undefined) of[name] = () => { wentElsewhere(name); };
}"""
"""Ways out that are no requests: whoever takes one is told on."""

_LEFT = """async () => [Object.entries(localStorage), Object.entries(sessionStorage), window.name, history.state,
    document.cookie, globalThis.caches === undefined ? [] : await caches.keys(),
    (await indexedDB.databases()).map((each) => each.name)]"""
"""What a page can leave behind for another time."""


@dataclass(frozen=True)
class Observed:
    """A request as it came to the service."""

    method: str
    path: str
    query: str
    headers: tuple[tuple[str, str], ...]
    body: str

    def __str__(self) -> str:
        return f"{self.method} {self.path}" + (f"?{self.query}" if self.query else "")


class Ears:
    """Hears all that comes to the service, before anything else does."""

    def __init__(self) -> None:
        self.observed: list[Observed] = []

    def before(self, app: ASGIApp) -> ASGIApp:
        """The service, heard."""
        async def hearing(scope: Scope, receive: Receive, send: Send) -> None:
            if scope["type"] not in ("http", "websocket"):
                await app(scope, receive, send)
                return
            place, body = len(self.observed), b""

            def note() -> Observed:
                return Observed(
                    scope.get("method", "WEBSOCKET"), scope["raw_path"].decode("ascii"),
                    scope["query_string"].decode("ascii"),
                    tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]),
                    body.decode("latin-1"))

            self.observed.append(note())

            async def noting() -> Message:
                nonlocal body
                message = await receive()
                body += message.get("body", b"")
                self.observed[place] = note()
                return message

            await app(scope, noting, send)
        return hearing


class Wire:
    """All that a browser sends.

    Args:
        context: the browser, before it loads her offer.
        ears: of the service.
    """

    def __init__(self, context: BrowserContext, ears: Ears) -> None:
        self.context, self.ears = context, ears
        self.sent: list[tuple[str, str]] = []
        self.elsewhere: list[str] = []
        context.on("request", lambda request: self.sent.append((request.method, request.url)))
        context.on("page", self._opens)
        for page in context.pages:
            self._listens(page)
        context.expose_function("wentElsewhere", self._went)
        context.add_init_script(_ELSEWHERE)

    def _went(self, way: str) -> None:
        self.elsewhere.append(way)

    def _listens(self, page: Page) -> None:
        page.on("websocket", lambda socket: self.elsewhere.append(f"websocket {socket.url}"))

    def _opens(self, page: Page) -> None:
        self._listens(page)
        if len(self.context.pages) > 1:
            self.elsewhere.append("another page")

    def forget(self) -> None:
        """Begin anew."""
        for each in (self.ears.observed, self.sent, self.elsewhere):
            each.clear()


def beyond(page: Page, wire: Wire, base: str, types: Callable[[Page], None]) -> tuple[str, list[str]]:
    """From before she types until what was drawn is handed in: what left that had not to leave.

    Everything is held against a list, in order: requests with their methods, paths, queries, headers and bodies, as the
    service heard them; that the browser sent no others; and what the page left behind in the browser.

    Args:
        page: at her offer, with nothing typed.
        wire: of the page.
        base: of the service.
        types: gives her answer.

    Returns:
        What was drawn; one line for each thing that should not be.
    """
    page.wait_for_load_state("networkidle")
    (cookie,) = wire.context.cookies()
    word = page.locator("#send input[name=word]").input_value()
    column = page.evaluate("JSON.parse(document.getElementById('device').dataset.instructions).column")
    before = list(wire.ears.observed)
    always = {name: value for name, value in before[-1].headers if name in _ALIKE}
    opens = {**_OPENED, "accept": next(dict(each.headers)["accept"] for each in before if each.path == "/mine")}
    always["cookie"] = f"{cookie['name']}={cookie['value']}"
    left = page.evaluate(_LEFT)
    wire.forget()
    types(page)
    page.get_by_role("button", name="Draw my report").click()
    drawn = leaving(page)
    found = [f"left behind: {now} for {before}" for now, before in zip(page.evaluate(_LEFT), left, strict=True)
             if now != before]
    rows = [each["row"] for each in kept(page).values()]
    found += [f"kept: {rows}"] * (rows != [{column: drawn}])
    page.get_by_role("button", name="Hand it in").click()
    page.get_by_text("Your report is stored").or_(page.locator(".problem:not(#problem)")).first.wait_for()
    page.wait_for_load_state("networkidle")
    found += [f"the cookies are {wire.context.cookies()}"] * (wire.context.cookies() != [cookie])

    body = urlencode({"word": word, f"field.{column}": drawn})
    at, origin = {"referer": f"{base}/mine"}, {"origin": base}
    asks = Observed("GET", "/api/v1/mine", "", _pairs(always, _FETCHED, at), "")
    hands = Observed("POST", "/mine/report", "", _pairs(always, opens, at, origin, {
        "content-type": "application/x-www-form-urlencoded", "content-length": str(len(body))}), body)
    sees = Observed("GET", "/mine", "", _pairs(always, opens, at), "")
    observed = list(wire.ears.observed)
    expected = [asks, asks, hands, sees]
    found += [f"heard: {_unlike(one, other)}" for one, other in zip(observed, expected, strict=False)
              if _plain(one) != other]
    found += [f"not heard: {each}" for each in expected[len(observed):]]
    rest = observed[len(expected):]
    loaded = [(each.path, pair) for each in before if each.path in _LOADED for pair in each.headers]
    found += [f"heard: {each} {each.headers}" for each in rest
              if (each.method, each.query, each.body) != ("GET", "", "")
              or any((each.path, pair) not in loaded for pair in each.headers)]
    found += [f"heard too often: {each}" for each in rest if rest.count(each) > 2]
    sent = [(method, _short(url, base)) for method, url in wire.sent]
    known = [(each.method, str(each).partition(" ")[2]) for each in observed]
    found += [f"sent: {method} {url}" for method, url in sent
              if (method, url) not in known and (method != "GET" or url not in _LOADED)]
    found += [f"heard of another: {each}" for each in known if each not in sent]
    return drawn, found + [f"elsewhere: {each}" for each in wire.elsewhere]


def _pairs(*headers: dict[str, str]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted({name: value for each in headers for name, value in each.items()}.items()))


def _plain(observed: Observed) -> Observed:
    return Observed(observed.method, observed.path, observed.query, tuple(sorted(set(observed.headers) - {_BY_HAND})),
                    observed.body)


def _unlike(observed: Observed, expected: Observed) -> str:
    more = sorted(set(observed.headers) - set(expected.headers) - {_BY_HAND})
    less = sorted(set(expected.headers) - set(observed.headers))
    return f"{observed} for {expected}; headers {more} for {less}; body {observed.body!r} for {expected.body!r}"


def _short(url: str, base: str) -> str:
    return url.removeprefix(base) if f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" == base else url



"""The common part of all web pages: the template of a page, the identity of the reader, the form word of the session,
and the language.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import cache, partial
from gettext import NullTranslations
from pathlib import Path
from typing import Annotated, Any, Protocol, TypeVar

from fastapi import Depends, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from python_multipart.multipart import parse_options_header
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.formparsers import MultiPartException, MultiPartParser

from confide.contract.guarantees import sentences_of
from confide.contract.worded import worded
from confide.contract.words import as_sentence, number
from confide.privacy.device_odds import of_hundred
from confide.service.access import Operator, Participant, csrf_of
from confide.service.language import chosen, translations
from confide.service.shell.guards import (
    OPERATOR_COOKIE,
    PARTICIPANT_COOKIE,
    check_form,
    cookie_name,
    cookie_of,
    parts_of,
)
from confide.service.web.rendering import in_words, sections_html

__all__ = ["STATIC", "Form", "forget_token", "from_elsewhere", "go", "keep_token", "leafed", "looking", "page",
           "same_site", "speak", "taking"]

LANGUAGE_COOKIE = "confide_language"
HERE = Path(__file__).parent
STATIC = HERE / "static"


class _Numbered(Protocol):
    @property
    def number(self) -> int: ...


Listed = TypeVar("Listed", bound=_Numbered)


@cache
def _templates(language: str = "en") -> Environment:
    found = Environment(loader=FileSystemLoader(HERE / "templates"), autoescape=True, undefined=StrictUndefined,
                        trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.i18n"])
    found.globals.update(sections=sections_html, figure=number, sentence=as_sentence, promised=sentences_of,
                         hundred=of_hundred)
    speak(found, translations(language))
    return found


def speak(templates: Environment, catalogue: NullTranslations) -> None:
    """Set the language of templates, both for the texts of the templates and for the error texts that `in_words` shows.

    Args:
        templates: templates of all pages, whose language is set.
        catalogue: catalogue in which texts are looked up.
    """
    templates.install_gettext_translations(catalogue, newstyle=True)  # type: ignore[attr-defined] # i18n's
    templates.globals["in_words"] = partial(in_words, translate=catalogue.gettext)


def page(request: Request, template: str, *, status: int = 200, **context: Any) -> HTMLResponse:
    """Make a page: a template that is filled with values, in the language of the reader.

    Args:
        request: request of the reader.
        template: file name of the template.
        status: HTTP status of the answer.
        context: values that the template shows, by name.
    """
    operator, participant = looking(request), taking(request)
    word = csrf_of(cookie_of(request, OPERATOR_COOKIE if context.get("desk") else PARTICIPANT_COOKIE))
    language = chosen(request.headers.get("accept-language", ""), request.cookies.get(LANGUAGE_COOKIE, ""))
    text = _templates(language).get_template(template).render(
        operator=operator, participant=participant, word=word, path=request.url.path, lang=language, **context)
    return HTMLResponse(text, status)


def leafed(found: Sequence[Listed], most: int) -> tuple[Sequence[Listed], int | None]:
    """The entries of one page of a list, newest first, and the number of the last of these entries. The next page
    begins before this number. The number is None if there is no next page.

    Args:
        found: entries of the page, and one further entry if the list goes on.
        most: largest number of entries on a page.
    """
    shown = found[:most]
    return shown, shown[-1].number if len(found) > most else None


def looking(request: Request) -> Operator | None:
    """The operator who reads the page; None if nobody has logged in. The store is asked only once for each request."""
    if not hasattr(request.state, "looking"):
        token = cookie_of(request, OPERATOR_COOKIE)
        request.state.looking = parts_of(request).sessions.who(token) if token else None
    found: Operator | None = request.state.looking
    return found


def taking(request: Request) -> Participant | None:
    """The participant who reads the page; None if nobody has joined."""
    if not hasattr(request.state, "taking"):
        token = cookie_of(request, PARTICIPANT_COOKIE)
        request.state.taking = parts_of(request).sessions.participant(token) if token else None
    found: Participant | None = request.state.taking
    return found


def from_elsewhere(request: Request) -> bool:
    """Whether the browser states that a page of another site has led to this page."""
    return request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none")


def same_site(request: Request) -> None:
    """Check that a form comes from a page of this service, by the origin that the browser states. This check also works
    without a session.

    Browsers state the origin of the page with the form, and newer browsers also state whether this origin is the
    service itself. A form with another origin is refused. A program that is no browser states nothing. It is accepted,
    because it has no cookie that a page of another site could use.

    Raises:
        HTTPException: status 403: the form comes from another site.
    """
    origin, named = request.headers.get("origin"), "sec-fetch-site" in request.headers
    unnamed = origin is None or (origin == "null" and named)  # some hide it; then the other one counts
    if from_elsewhere(request) or not (unnamed or _ours(request, str(origin))):
        raise HTTPException(403, worded("the form comes from another site"))


def _ours(request: Request, origin: str) -> bool:
    """Whether an origin is this service, at its public address or at the address of this request."""
    return origin in (parts_of(request).settings.base_url, f"http://{request.headers.get('host', '')}",
                      f"https://{request.headers.get('host', '')}")


class _InMemory(MultiPartParser):
    """Form parser that keeps all files in memory and writes none to disk. The size of the request was limited before
    the form is read.
    """

    spool_max_size = 0


@asynccontextmanager
async def _form(request: Request) -> AsyncIterator[FormData]:
    media, _ = parse_options_header(request.headers.get("content-type", ""))
    if media != b"multipart/form-data":
        async with request.form(max_fields=500) as form:
            yield form
        return
    try:
        form = await _InMemory(request.headers, request.stream(), max_files=2, max_fields=500).parse()
    except MultiPartException:
        raise HTTPException(400, worded("the form cannot be read")) from None
    try:
        yield form
    finally:
        await form.close()


async def _sent(request: Request) -> AsyncIterator[FormData]:
    """The form of a request, which is read only if the caller may send one to this page. Strangers' forms to the pages
    of operators or participants are not read.
    """
    same_site(request)
    path = request.url.path
    known: Callable[[Request], object] | None = (
        looking if path.startswith(("/desk", "/logout")) else taking if path.startswith(("/mine", "/leave")) else None)
    if known is not None and await run_in_threadpool(known, request) is None:
        raise HTTPException(401, worded("log in first") if known is looking else worded("join with your code first"))
    _, parameters = parse_options_header(request.headers.get("content-type", ""))
    if parameters.get(b"charset", b"utf-8").lower() not in (b"utf-8", b"utf8"):
        raise HTTPException(415, worded("a form must be UTF-8 text"))
    async with _form(request) as form:
        if any("\0" in name or (isinstance(text, str) and "\0" in text) for name, text in form.multi_items()):
            raise HTTPException(422, worded("a form must have no zero bytes"))
        yield form


Form = Annotated[FormData, Depends(_sent)]


def checked(request: Request, form: FormData, cookie: str) -> None:
    """Check that a form has the form word of the session to which the request's cookie belongs.

    Raises:
        HTTPException: status 403: the form was not made for this session.
    """
    check_form(cookie_of(request, cookie), str(form.get("word", "")))


def go(to: str) -> RedirectResponse:
    """An answer that redirects the browser to another page."""
    return RedirectResponse(to, 303)


def keep_token(
    request: Request, answer: Response, cookie: str, token: str, seconds: int, *, lax: bool = False
) -> None:
    """Make the browser keep a token in a cookie that neither scripts nor other sites can read.

    Args:
        request: request of the caller.
        answer: response to which the cookie is added.
        cookie: name of the cookie.
        token: token that the cookie holds.
        seconds: lifetime of the cookie, in seconds.
        lax: whether the cookie is also sent when a person follows another site's link to this service.
    """
    answer.set_cookie(cookie_name(request, cookie), token, max_age=seconds, httponly=True, path="/",
                      secure=parts_of(request).settings.secure, samesite="lax" if lax else "strict")


def forget_token(request: Request, answer: Response, cookie: str) -> None:
    """Make the browser delete the cookie that `keep_token` has set."""
    answer.delete_cookie(cookie_name(request, cookie), path="/", httponly=True,
                         secure=parts_of(request).settings.secure, samesite="strict")

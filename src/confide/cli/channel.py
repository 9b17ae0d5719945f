"""The command `confide channel`, which needs no campaign. It analyses the privacy of a randomised answer that the user
describes in a file.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from confide.cli.options import AsJson, emit, write_public
from confide.contract.words import json_ready

__all__ = ["channel"]


def channel(
    file: Annotated[Path, typer.Argument(metavar="FILE.json", help="The channel: a table, or the design of a survey.")],
    html: Annotated[Path | None, typer.Option("--html", metavar="FILE", help="Write the result as a page.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show the privacy of a randomised answer in every notion of privacy, the success of an attacker, and the best
    possible accuracy.
    """
    from confide.campaign.report import page
    from confide.channels import read_channel_file
    from confide.cli.render import show, show_title

    it = read_channel_file(file)
    answer = it.answer()
    parts = answer.sections()
    if html is not None:
        write_public("html", html, page(it.title, "How private is this randomisation? Levels in nats.", parts))
    if as_json:
        from confide.cli import output

        emit(output.ChannelOutput(file=str(file), sections=output.sections(parts), **json_ready(answer.to_dict())))
        return
    show_title(it.title)
    show(parts)
    if html is not None:
        print(f"\nwrote {html}")

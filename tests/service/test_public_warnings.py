"""Of what a run warns of, the service's log has what is built from public facts."""

from __future__ import annotations

import logging
import warnings

import pytest

from confide.contract import PublicWarning
from confide.service import serving


@pytest.mark.filterwarnings("default")
def test_the_log_has_public_warnings_alone(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(serving, "log_as_json", lambda: None)
    monkeypatch.setattr(serving, "create_app", lambda settings: settings)
    monkeypatch.delenv(serving.VARIABLE, raising=False)
    monkeypatch.delenv("CONFIDE_DEBUG", raising=False)
    monkeypatch.setattr(logging.getLogger("confide"), "propagate", True)
    with warnings.catch_warnings():
        serving.application()
        warnings.warn("record 17 says yes", stacklevel=1)
        warnings.warn("17 overflows", RuntimeWarning, stacklevel=1)
        warnings.warn("2 queries\nwere dropped", PublicWarning, stacklevel=1)
    (said,) = caplog.records
    assert said.levelname == "WARNING"
    assert said.getMessage().startswith("2 queries")
    assert "\n" not in said.getMessage()
    assert capsys.readouterr() == ("", "")

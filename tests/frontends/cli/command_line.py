"""`paretoscope …` in this process: what it prints and its exit code, in milliseconds instead of a second."""

from __future__ import annotations

import io
import os
import signal
import subprocess
from contextlib import redirect_stderr, redirect_stdout
from unittest import mock

from frontends.cli import commands, terminal
from tests.processes import environment

NOWHERE = "http://127.0.0.1:9"


def run(*arguments: str, url: str | None = NOWHERE, **settings: str) -> subprocess.CompletedProcess[str]:
    """With these PARETOSCOPE_* settings and no others; an exception that a user would see as a traceback is raised."""
    printed, complained = io.BytesIO(), io.BytesIO()
    out, err = (io.TextIOWrapper(stream, "utf-8", write_through=True) for stream in (printed, complained))
    # A process of its own would read this from its environment; here it was read when the module was imported.
    terminal.out.width = terminal.err.width = int(settings.get("COLUMNS", "80"))
    before = signal.getsignal(signal.SIGTERM)
    variables = environment(**({"PARETOSCOPE_URL": url} if url else {}), **settings)
    with mock.patch.dict(os.environ, variables, clear=True), redirect_stdout(out), redirect_stderr(err):
        try:
            code = commands.run(lambda: commands.app(list(arguments), prog_name="paretoscope"))
        except SystemExit as ended:
            assert isinstance(ended.code, int)
            code = ended.code
        finally:
            signal.signal(signal.SIGTERM, before)  # `up` and `demo` take it over
    return subprocess.CompletedProcess(
        list(arguments), code, printed.getvalue().decode(), complained.getvalue().decode()
    )

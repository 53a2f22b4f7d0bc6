"""An option that most commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from queries.forms import OUTPUTS

Outputs = Annotated[
    str | None,
    typer.Option(OUTPUTS.flag, metavar=OUTPUTS.metavar, help=OUTPUTS.help),
]

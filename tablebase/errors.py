"""The base class of every error that can reach a user, and the errors of invalid requests.

Each error has a message, attributes and an exit code. A message says what is wrong, where, and what
to do next. Exit codes: 1 a valid query whose answer is no, 2 bad input or an output that cannot be
written, 3 tables missing, of another version, or damaged, or a full disk; 4 a search that its time
limit ended; 141 a pipe that was closed by its reader.

The other errors are in modules of their own (`answer_errors`, `table_errors`, `output_errors`,
`build_errors`): a lookup that finds its answer loads none of them.
"""

from __future__ import annotations


def quote(text: str, limit: int = 60) -> str:
    """Return foreign text safe to print: quoted, control characters escaped, cut when long.

    >>> print(quote("12\\x1b[31m"))
    '12\\x1b[31m'
    """
    if len(text) > limit:
        return f"{text[:limit]!r}... ({len(text):,} characters)"
    return repr(text)


class TablebaseError(Exception):
    """The base class of all errors that reach a user."""

    exit_code = 1
    known: dict[str, object] = {}  # noqa: RUF012  # no instance changes it
    """The facts that are known all the same, which `--json` prints."""

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the message and the attributes: `__init__` takes other arguments than `args`."""
        from copyreg import __newobj__  # type: ignore[attr-defined]  # typeshed does not declare it

        return __newobj__, (type(self), *self.args), vars(self)


class NotationError(TablebaseError):
    """Text that is not in a puzzle's notation."""

    exit_code = 2

    def __init__(self, puzzle: str, text: str, problem: str, example: str) -> None:
        super().__init__(f"{quote(text)} is not {puzzle}: {problem}. Example: {example}")
        self.puzzle = puzzle
        self.text = text
        self.problem = problem
        self.example = example


class BadRequest(TablebaseError):
    """A request that contradicts itself or names what does not exist."""

    exit_code = 2

    def __init__(self, problem: str, hint: str = "") -> None:
        super().__init__(f"{problem}. {hint}." if hint else f"{problem}.")
        self.problem = problem
        self.hint = hint


def require_choice(value: str, what: str, *choices: str) -> None:
    """Raise BadRequest if a value is none of the choices; `what` names it in the message."""
    if value not in choices:
        hint = f"Choose one of: {', '.join(choices)}"
        raise BadRequest(f"There is no {what} {quote(value)}", hint)


def require_whole_number(value: object, what: str, least: int, most: int | None = None) -> int:
    """Return a value as a whole number; raise BadRequest if it is none, or out of limits.

    `what` names it in the message. `least` and `most` are allowed; None: no upper limit.
    """
    is_whole = not isinstance(value, bool) and hasattr(value, "__index__")
    number = int(value.__index__()) if is_whole else None  # type: ignore[attr-defined]  # just checked
    if number is None or number < least or (most is not None and number > most):
        limits = f"from {least:,}" if most is None else f"from {least:,} to {most:,}"
        raise BadRequest(f"{what} is a whole number {limits}, not {quote(str(value))}")
    return number


def require_text(value: object, what: str, example: str) -> str:
    """Return a value if it is text; raise NotationError otherwise.

    Callers in Python can pass a value of any type. `what` names it in the message.
    """
    if isinstance(value, str):
        return value
    problem = f"it is of type {type(value).__name__}, not text"
    raise NotationError(what, str(value), problem, example)

"""Every error that can reach a user, and the errors of stores, which become one of these.

Each error has a message, facts as attributes, and an exit code. A message says what is wrong,
where, and what to do next, in Python; `pipeline.terminal` makes commands of the facts. Exit codes:
1 a valid query whose answer is no, 2 bad input or an output that cannot be written, 3 tables
missing, of another version, or damaged, or a full disk; 4 a search that its time limit ended; 141 a
pipe that was closed by its reader.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, NoReturn, ParamSpec, TypeVar

    Given = ParamSpec("Given")
    Result = TypeVar("Result")


MAX_LINE = 10_000
"""The most characters of a line that is printed for people."""


def make_printable(text: str) -> str:
    """Return an untrusted line safe to print: escaped, and truncated if long.

    >>> print(make_printable("12\\x1b[31m"))
    12\\x1b[31m
    """
    if len(text) > MAX_LINE:
        text = f"{text[:MAX_LINE]}... ({len(text):,} characters)"
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() else repr(each)[1:-1] for each in text)


def hide_login(text: str) -> str:
    """Return an address without user name and password; any other text as it is.

    A text with a typo counts as an address if it begins like one with a password.

    >>> hide_login("s3://me:secret@host/tables"), hide_login("https:/me:secret@host/tables")
    ('s3://host/tables', 'https:/host/tables')
    """
    scheme, mark, rest = text.partition("://")
    if mark:
        slashes = rest[: len(rest) - len(rest.lstrip("/"))]
        rest = rest[len(slashes) :]
        ends = (at for at in map(rest.find, "/?#") if at >= 0)
        host = rest[: min(ends, default=len(rest))]
        port = host.rpartition(":")[2]
        if "@" in host:
            rest = rest[host.rindex("@") + 1 :]
        elif ":" in host and host[0] != "[" and not port.isdecimal():  # of a password with /
            rest = rest.rpartition("@")[2] if "@" in rest else rest.partition(":")[0]
        return f"{scheme}{mark}{slashes}{rest}"
    before, mark, host = text.rpartition("@")
    folder, slash, login = before.rpartition("/")
    outer = folder.strip("/")
    is_path = ":" not in login or "/" in outer or outer in (".", "..")
    return text if not mark or is_path else f"{folder}{slash}{host}"


def quote(text: str, limit: int = 60) -> str:
    """Return foreign text safe to print: quoted, escaped, and truncated if long.

    >>> print(quote("12\\x1b[31m"))
    '12\\x1b[31m'
    """
    if "://" in text:
        text = hide_login(text)
    if len(text) > limit:
        return f"{text[:limit]!r}... ({len(text):,} characters)"
    return repr(text)


LIBRARIES = {"narwhals", "polars", "pyarrow", "pyo3_runtime"}
"""The packages that read, change and write rows; the last raises polars's panics."""
MAX_REASON = 200
"""The most characters of a library's reason in a message."""


def explain_library_error(error: BaseException) -> str:
    """Return the reason, in a line, if a library could not read or hold some rows; else "".

    Libraries raise their own errors, Python's for text and numbers, and an OSError without the
    system's error number. An error for want of memory says nothing about rows.

    >>> explain_library_error(OverflowError("too large")), explain_library_error(KeyError("x"))
    ('too large', '')
    """
    packages = {each.__module__.partition(".")[0] for each in type(error).__mro__}
    is_plain = isinstance(error, UnicodeError | OverflowError) or (
        type(error) is OSError and error.errno is None
    )
    if isinstance(error, MemoryError) or not (is_plain or packages & LIBRARIES):
        return ""
    line = str(error).partition("\n")[0]
    return make_printable(line[:MAX_REASON]) or type(error).__name__


class TablebaseError(Exception):
    """The base class of all errors that reach a user."""

    __module__ = "puzzle_tablebase"  # as a traceback names it: users import it from there
    exit_code = 1
    known: dict[str, object] = {}  # noqa: RUF012  # no instance changes it
    """Facts that are known despite the error, which `--json` prints."""

    def __init_subclass__(cls) -> None:
        if cls.__module__ == __name__:
            cls.__module__ = TablebaseError.__module__

    def __reduce__(self) -> tuple[object, ...]:
        """Pickle the message and the attributes: `__init__` takes other arguments than `args`."""
        from copyreg import __newobj__  # type: ignore[attr-defined]  # typeshed does not declare it

        return __newobj__, (type(self), *self.args), vars(self)


class NotationError(TablebaseError):
    """Text that is not in a puzzle's notation."""

    exit_code = 2

    def __init__(self, puzzle: str, text: str, problem: str, example: str) -> None:
        shown = quote(text, limit=40 if len(text) <= 40 else 20)
        super().__init__(f"{shown} is not {puzzle}: {problem}. Example: {example}")
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
    """Raise BadRequest unless a value is one of the choices; `what` names it in the message."""
    if value not in choices:
        hint = f"Choose one of: {', '.join(choices)}"
        raise BadRequest(f"There is no {what} {quote(str(value))}", hint)


def require_whole_number(value: object, what: str, least: int, most: int | None = None) -> int:
    """Return a value as a whole number; raise BadRequest if it is not one, or is out of range.

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


class NotAFolder(BadRequest):
    """The address of a store other than a folder, where nothing can be built."""

    def __init__(self, store: object) -> None:
        self.store = str(store)
        hint = f"Build in a folder, then call: pt.copy_tables(FOLDER, {self.store!r})"
        super().__init__(f"{store} is not a folder, and tables can only be built in folders", hint)


class IllegalMove(BadRequest):
    """A move that the rules do not allow, and why."""


class NoAnswer(TablebaseError):
    """A valid query whose answer is no."""


class GoalUnreachable(NoAnswer):
    """A goal that is unreachable from the state."""

    template = "{} cannot be reached from {}: {}"
    """The message, with gaps for the goal, the state and the reason."""

    def __init__(self, state: str, goal: str, reason: str) -> None:
        super().__init__(self.template.format(goal, state, reason))
        self.state, self.goal, self.reason = state, goal, reason


class Undecided(TablebaseError):
    """A search that its time limit ended; every solution has at least `least` moves."""

    exit_code = 4

    def __init__(self, state: str, seconds: float, least: int) -> None:
        self.least = least
        self.known = {"state": state, "least": least}
        super().__init__(f"Undecided after {seconds:g} s: {state} needs at least {least} moves")


class TableError(TablebaseError):
    """A table that cannot be used.

    `file` is its path or URL, and `store` that of the folder or host. `table`: the name to build,
    "" for all default tables, None if no build helps. `needs_force`: the build needs `force`, or
    finds nothing to do. `outputs`: the folder to build in, "" for the default one, None for a host.
    """

    exit_code = 3

    def __init__(
        self, problem: str, store: Any, file: str, table: str | None, *, needs_force: bool = False
    ) -> None:
        super().__init__(problem)
        self.store, self.file = str(store), _locate(store, file)
        self.table, self.needs_force = table, needs_force
        self.outputs: str | None = store.outputs

    def __str__(self) -> str:
        """Return the message with what to call in Python; the command line writes its own."""
        return f"{self.args[0]} {self._advise()}".rstrip()

    @property
    def named(self) -> tuple[str, ...]:
        """The tables to build, by name; () for all default ones."""
        return (self.table,) if self.table else ()

    def _advise(self) -> str:
        if self.table is None or self.outputs is None:
            return ""
        words = [repr(name) for name in self.named]
        words += ["force=True"] if self.needs_force else []
        words += [f"outputs={self.outputs!r}"] if self.outputs else []
        return f"Call: pt.precompute({', '.join(words)})"


def _locate(store: Any, file: str) -> str:
    """Return the path or URL of a file; of the store itself for no file."""
    return str(store.locate(file) if file else store)


class TableMissing(TableError):
    """A table that is not published.

    `solver`: a puzzle that can answer by a search, the state to ask about ("" for a sample), and
    the goal, unless it is the default one.
    """

    def __init__(
        self,
        store: Any,
        file: str,
        table: str | None,
        solver: tuple[str, str, str] | None = None,
    ) -> None:
        super().__init__(f"{_locate(store, file)} is not published.", store, file, table)
        self.solver = solver

    def _advise(self) -> str:
        if not self.solver:
            return super()._advise()
        puzzle, state, goal = self.solver
        named = goal and f"goal={goal!r}"
        if not state:
            return f"Call: tables.{puzzle}.sample({named})"
        return f"Call: tables.{puzzle}.probe({state!r}{named and f', {named}'})"


class StoreEmpty(TableMissing):
    """A folder or host without tables."""

    def __init__(self, store: Any, file: str) -> None:
        super().__init__(store, file, "")
        self.args = (f"There are no tables in {store}.",)

    def _advise(self) -> str:
        build = super()._advise()
        return build and f"{build}, or: pt.copy_tables(ADDRESS, {self.store!r})"


class TableUnreadable(TableError):
    """A file that could not be read, for a reason other than missing or damaged contents."""

    def __init__(
        self, store: Any, file: str, reason: str, hint: str, table: str | None = None
    ) -> None:
        super().__init__(
            f"{_locate(store, file)} cannot be read: {reason}. {hint}.", store, file, table
        )


class TableVersionError(TableError):
    """A file written in another format version; `tables`: those that a manifest lists."""

    max_named = 3
    """The most tables that a call or a command names; if there are more, it builds the default
    ones.
    """

    def __init__(
        self,
        store: Any,
        file: str,
        version: int,
        supported: int,
        table: str,
        tables: tuple[str, ...] = (),
    ) -> None:
        # without `force`, no build replaces tables of a newer program
        newer = version > supported
        hint = " Update it, or rebuild." if newer else ""
        problem = f"has format version {version}; this program reads version {supported}.{hint}"
        super().__init__(f"{_locate(store, file)} {problem}", store, file, table, needs_force=newer)
        self.version = version
        self.supported = supported
        self.tables = tables

    @property
    def named(self) -> tuple[str, ...]:
        """The tables to build, by name: all listed ones, if they are few."""
        return self.tables if 0 < len(self.tables) <= self.max_named else super().named


class TableDamaged(TableError):
    """A file whose contents are not as published, or contradict each other.

    In the second case, the file is the one that the manifest lists, so a build needs `force`.
    """

    def __init__(
        self,
        store: Any,
        file: str,
        problem: str,
        table: str | None,
        *,
        needs_force: bool = False,
        hint: str = "",
    ) -> None:
        message = f"{_locate(store, file)} is damaged: {problem}. {hint}".rstrip()
        super().__init__(message, store, file, table, needs_force=needs_force)
        self.problem = problem


class OutputError(TablebaseError):
    """An output that cannot be written, or not completely.

    `is_full`: the disk is too small. `is_gone`: it is a pipe whose reader has closed it; the
    process ends quietly, as by SIGPIPE.
    """

    exit_code = 2

    def __init__(
        self, output: str, problem: str, *, is_full: bool = False, is_gone: bool = False
    ) -> None:
        super().__init__(f"{output} cannot be written: {problem}.")
        self.is_gone = is_gone
        if is_full or is_gone:  # no mistake in the command
            self.exit_code = 141 if is_gone else 3


class StoreError(TablebaseError):
    """A store that cannot be written to.

    `is_claimed`: another copy is at work, or was killed.
    """

    exit_code = 3

    def __init__(
        self, path: str, problem: str, hint: str = "", *, is_claimed: bool = False
    ) -> None:
        super().__init__(f"Cannot write to {path}: {problem}. {hint}".rstrip())
        self.problem, self.is_claimed = problem, is_claimed

    def __str__(self) -> str:
        """Return the message with what to pass in Python; the command line names its option."""
        call = "If that copy was killed, pass take_over=True."
        return f"{self.args[0]} {call}" if self.is_claimed else str(self.args[0])


class MachineLimit(TablebaseError):
    """A machine, a process or a cluster that cannot do the work."""

    exit_code = 3

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(f"{problem}. {hint}.")


class PackageMissing(MachineLimit):
    """Packages that are not installed, and the command that installs them."""

    def __init__(self, packages: list[str], command: str) -> None:
        names = f"package{'s' * (len(packages) > 1)}: {', '.join(packages)}"
        TablebaseError.__init__(self, f"Missing {names}. Run: {command}")
        self.packages = packages
        self.command = command


class MemoryShort(MachineLimit):
    """Work that is not started because it needs more memory than is free, or than the limit."""

    def __init__(self, work: str, needed: int, free: int, hint: str) -> None:
        sizes = f"{needed / 1e9:.2f} GB of memory; available: {free / 1e9:.2f} GB"
        super().__init__(f"{work} needs {sizes}", hint)
        self.needed = needed


class SearchError(TablebaseError):
    """A search result that contradicts the rules: nothing is published."""

    exit_code = 3


class NotAFile(OSError):
    """A folder, a link, a named pipe or a device where a file of this program is expected."""


class Unreachable(OSError):
    """A store that did not answer, or refused to."""


class FileChanged(OSError):
    """A file that was replaced while it was read."""


# ---- packages that are not installed -----------------------------------------------------------


PROJECT = "puzzle-tablebase"
"""The name that `pip` knows."""


def raise_missing(error: ModuleNotFoundError) -> NoReturn:
    """Raise PackageMissing for a package that is not installed; the error itself for our own code.

    It names all missing packages, as one command installs them.
    """
    package = (error.name or "").partition(".")[0]
    if package in ("", "puzzle_tablebase"):
        raise error
    for extra, names in list_requirements().items():
        if any(name.replace("-", "_").startswith(package) for name in names):
            missing = [name for name in names if not is_installed(name)] or [package]
            raise PackageMissing(missing, f"pip install {extra}") from error
    raise PackageMissing([package], f"pip install {package}") from error


def list_requirements() -> dict[str, list[str]]:
    """List the packages that our metadata requires, as `pip install` takes them."""
    from importlib.metadata import PackageNotFoundError, requires

    listed = dict[str, list[str]]()
    try:
        lines = requires(PROJECT) or []
    except PackageNotFoundError:  # a folder of the code alone
        return listed
    for line in lines:
        extra = line.partition("extra == ")[2].strip("'\"")
        for mark in "<>=!~[; ":
            line = line.partition(mark)[0]  # noqa: PLW2901  # the rest is the name
        listed.setdefault(f"'{PROJECT}[{extra}]'" if extra else PROJECT, []).append(line)
    return listed


def is_installed(name: str) -> bool:
    """Return whether a package is installed, by the name that `pip` knows."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        distribution(name)
    except PackageNotFoundError:
        return False
    return True


def name_packages(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """Make a function of the library raise PackageMissing if a package is not installed."""

    def call(*given: Given.args, **options: Given.kwargs) -> Result:
        try:
            return function(*given, **options)
        except ModuleNotFoundError as error:
            raise_missing(error)

    for name in ("__module__", "__name__", "__qualname__", "__doc__"):
        setattr(call, name, getattr(function, name))
    call.__wrapped__ = function  # type: ignore[attr-defined]  # as `functools` does, slow to import
    return call

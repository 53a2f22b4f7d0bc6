"""The errors of builds: of searches, of stores, and of the machine's limits."""

from __future__ import annotations

from tablebase.errors import TablebaseError


def _format_sizes(needed: int, free: int) -> tuple[str, str]:
    """Format two sizes so that they differ: in gigabytes if these do, else in bytes.

    >>> _format_sizes(3 << 30, 1 << 30), _format_sizes(10_500_000, 10_400_000)
    (('3.22 GB', '1.07 GB'), ('10,500,000 bytes', '10,400,000 bytes'))
    """
    sizes = f"{needed / 1e9:.2f} GB", f"{free / 1e9:.2f} GB"
    return sizes if sizes[0] != sizes[1] else (f"{needed:,} bytes", f"{free:,} bytes")


class StoreError(TablebaseError):
    """A store that tables cannot be built in."""

    exit_code = 3

    def __init__(self, path: str, problem: str, hint: str = "") -> None:
        super().__init__(f"Cannot build in {path}: {problem}. {hint}".rstrip())
        self.path = path
        self.problem = problem


class DiskShort(StoreError):
    """A build that needs more disk than is free; it does not start."""

    def __init__(self, path: str, work: str, needed: int, free: int) -> None:
        sizes = "{} of disk; {} is free".format(*_format_sizes(needed, free))
        hint = "Free some space, or choose another folder with --outputs."
        super().__init__(path, f"{work} needs {sizes}", hint)
        self.work = work
        self.needed = needed
        self.free = free


class MemoryShort(TablebaseError):
    """Work that needs more memory than is free, or than the limit allows; it does not start."""

    exit_code = 3

    def __init__(self, work: str, needed: int, free: int, hint: str) -> None:
        sizes = "{} of memory; {} is available".format(*_format_sizes(needed, free))
        super().__init__(f"{work} needs {sizes}. {hint}.")
        self.work = work
        self.needed = needed
        self.free = free


class MachineLimit(TablebaseError):
    """A limit of the machine or of this process that leaves too little to work with."""

    exit_code = 3

    def __init__(self, problem: str, hint: str) -> None:
        super().__init__(f"{problem}. {hint}.")
        self.problem = problem
        self.hint = hint


class ClusterError(TablebaseError):
    """A scheduler that cannot run tasks, or was lost while it ran some."""

    exit_code = 3

    def __init__(self, address: str, problem: str, *, has_begun: bool = False) -> None:
        saved = " Finished tasks are saved; run the command again to resume." if has_begun else ""
        super().__init__(f"Cannot build with the scheduler {address}: {problem}.{saved}")
        self.address = address
        self.problem = problem


class SearchError(TablebaseError):
    """A search result that contradicts the rules: nothing is published."""

    exit_code = 3

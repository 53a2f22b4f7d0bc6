"""Tests of systems that lack some modules: queries still work, and tests are collected."""

from pathlib import Path

from tests.support.shell import Ask, Said, python

MODULES = ("fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty")
"""The modules of the standard library that Windows lacks."""

REMOVE_MODULES = f"""
import mmap, os, select, signal, sys
import _signal
import numpy, polars, pyarrow.parquet  # imported first, as these builds need the modules
for name in {MODULES}:
    sys.modules[name] = None
signals = ("SIGABRT", "SIGFPE", "SIGILL", "SIGINT", "SIGSEGV", "SIGTERM", "SIG_DFL", "SIG_IGN")
kept = (*signals, "default_int_handler", "getsignal", "raise_signal", "set_wakeup_fd", "signal")
windows = ("ACCESS_COPY", "ACCESS_DEFAULT", "ACCESS_READ", "ACCESS_WRITE", "PAGESIZE", "mmap")
flags = ("O_APPEND", "O_CREAT", "O_EXCL", "O_RDONLY", "O_RDWR", "O_TRUNC", "O_WRONLY")
gone = {{
    _signal: [name for name in dir(_signal) if name not in kept],
    signal: [name for name in dir(signal) if name[0] != "_" and name not in kept],
    mmap: [name for name in dir(mmap) if name[0] != "_" and name not in windows],
    select: ["poll", "epoll"],
    os: [name for name in dir(os) if name[:2] == "O_" and name not in flags] + '''
        chown chroot copy_file_range ctermid fchdir fchmod fchown fork forkpty fpathconf geteuid
        getgid getgroups getloadavg getpgid getpriority getresuid getsid getuid initgroups killpg
        lchown lockf mkfifo mknod nice openpty pathconf pidfd_open pipe2 posix_fadvise
        posix_fallocate posix_spawn posix_spawnp pread preadv pwrite pwritev readv
        register_at_fork sched_getaffinity sched_setaffinity sched_yield sendfile setsid splice
        statvfs sync sysconf uname wait wait3 wait4 waitid writev
    '''.split(),
}}
for module, names in gone.items():
    for name in names:
        if hasattr(module, name):
            delattr(module, name)
"""
"""Code that removes from Python what Windows lacks; macOS lacks less of it."""


LOOKUPS = (
    "eight 378546201",
    "eight 087654321 --goal 103245768 --json",
    "senet ABAAABBB.B...A. --path",
    "knight b1 --closed",
    "knight a1 --board 5x5 --number 7",
    "knight c3 --board 5x5 --count",
)


def run_with_less(code: str) -> Said:
    return python(f"{REMOVE_MODULES}\n{code}")


def test_lone_lookups_with_less(outputs: Path, ask: Ask) -> None:
    """Ask all in one process, each followed by its exit code."""
    commands = [["query", *words.split(), "--outputs", str(outputs)] for words in LOOKUPS]
    said = run_with_less(
        "from puzzle_tablebase.pipeline.run import run_command\n"
        f"for words in {commands!r}:\n"
        "    print(run_command(words))\n"
    )
    expected = [ask(*words.split()) for words in LOOKUPS]
    assert {(code, errors) for code, _, errors in expected} == {(0, "")}
    assert said == (0, "".join(f"{text}0\n" for _, text, _ in expected), "")


def test_opened_tables_with_less(outputs: Path) -> None:
    text = run_with_less(
        "from puzzle_tablebase.queries import open_tables\n"
        f"with open_tables({str(outputs)!r}) as tables:\n"
        "    print(tables.eight.distance('378546201'), tables.eight.solution('283104765'))\n"
        "    print(tables.senet.probe('ABAAABBB.B...A.').moves)\n"
        "    print(tables.knight.probe('b1', closed=True).finish)\n"
        "    print(tables.knight.count('c3', board='5x5').tours)\n"
        "    frame = polars.DataFrame({'state': ['378546201', None]})\n"
        "    print(tables.eight.annotate(frame)['best_moves'].to_list())\n"
    )
    assert text == (0, "27 ULDR\n9-14 4x7\nd2\n64\n['ULR', None]\n", "")


def test_a_batch_with_less(outputs: Path, tmp_path: Path) -> None:
    source, target = tmp_path / "asked.txt", tmp_path / "answers.csv"
    source.write_text("378546201\n1 2 3 4 5 6 7 8 0\n", "utf-8")
    words = ["query", "eight", "--input", str(source), "--output", str(target)]
    said = run_with_less(
        "assert not hasattr(os, 'pread') and not hasattr(_signal, 'SIGHUP')\n"
        "from puzzle_tablebase.pipeline.run import run_command\n"
        f"sys.exit(run_command({[*words, '--outputs', str(outputs)]!r}))"
    )
    assert said == (0, "", "")
    assert [line.split(",")[2] for line in target.read_text().splitlines()[1:]] == ["27", "0"]

"""Counts the calls by which another process may leave something that outlives it.

It runs as a program of its own, ``system_calls.py PID FILE``, and imports Python's own
modules alone. It stops the process at each call of the kernel (Linux, ptrace), and
keeps in the file how many calls there were by the main thread, by others, and whether
something may happen without a call. The process goes on when this program ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import struct
import sys
from pathlib import Path
from typing import TypeAlias

COUNTS = struct.Struct("=QQQQ")
"""What the file holds: whether the process is watched, the calls of its main thread,
those of its other threads, and whether it can do more than is counted."""

_Args: TypeAlias = "tuple[int, ...]"

_HARMLESS = """
read:0/63 readv:19/65 pread64:17/67 preadv:295/69 preadv2:327/286 close:3/57
close_range:436/436 stat:4/ fstat:5/80 lstat:6/ newfstatat:262/79 statx:332/291
access:21/ faccessat:269/48 faccessat2:439/439 getdents:78/ getdents64:217/61
readlink:89/ readlinkat:267/78 lseek:8/62 statfs:137/43 fstatfs:138/44 getcwd:79/17
chdir:80/49 fchdir:81/50 umask:95/166 poll:7/ ppoll:271/73 select:23/ pselect6:270/72
epoll_create:213/ epoll_create1:291/20 epoll_ctl:233/21 epoll_wait:232/
epoll_pwait:281/22 epoll_pwait2:441/441 eventfd:284/ eventfd2:290/19
timerfd_create:283/85 timerfd_settime:286/86 timerfd_gettime:287/87 pipe:22/
pipe2:293/59 dup:32/23 dup2:33/ dup3:292/24 fcntl:72/25 flock:73/32 fsync:74/82
fdatasync:75/83 sync_file_range:277/84 readahead:187/213 fadvise64:221/223 munmap:11/215
mprotect:10/226 mremap:25/216 madvise:28/233 brk:12/214 mincore:27/232 mlock:149/228
munlock:150/229 futex:202/98 futex_waitv:449/449 clock_gettime:228/113
clock_getres:229/114 clock_nanosleep:230/115 nanosleep:35/101 gettimeofday:96/169
time:201/ times:100/153 alarm:37/ getitimer:36/102 setitimer:38/103 getrandom:318/278
socket:41/198 getsockopt:55/209 setsockopt:54/208 getsockname:51/204 getpeername:52/205
recvfrom:45/207 recvmsg:47/212 recvmmsg:299/243 getpid:39/172 getppid:110/173
gettid:186/178 getuid:102/174 geteuid:107/175 getgid:104/176 getegid:108/177
getgroups:115/158 getpgrp:111/ getpgid:121/155 getsid:124/156 getrlimit:97/163
setrlimit:160/164 prlimit64:302/261 getrusage:98/165 getpriority:140/141 uname:63/160
sysinfo:99/179 getcpu:309/168 rt_sigaction:13/134 rt_sigprocmask:14/135
rt_sigreturn:15/139 rt_sigpending:127/136 rt_sigsuspend:130/133 rt_sigtimedwait:128/137
sigaltstack:131/132 restart_syscall:219/128 pause:34/ sched_yield:24/124
sched_getaffinity:204/123 sched_setaffinity:203/122 sched_getparam:143/121
sched_getscheduler:145/120 sched_get_priority_max:146/125
sched_get_priority_min:147/126 set_robust_list:273/99 get_robust_list:274/100
set_tid_address:218/96 rseq:334/293 arch_prctl:158/ prctl:157/167 membarrier:324/283
get_mempolicy:239/236 mbind:237/235 clone:56/220 clone3:435/435 wait4:61/260
waitid:247/95 exit:60/93 exit_group:231/94
"""
"""Calls that leave nothing once the process has died, with their numbers on x86-64 and
on ARM64. Reading and waiting are among them, locks too, which end with the process, and
what makes data survive a loss of power. New processes are noticed apart."""
_SOMETIMES = "open:2/ openat:257/56 mmap:9/222 ioctl:16/29"
_NEVER_SEEN_AGAIN = "io_uring_setup:425/425 io_setup:206/0"
_MACHINES = {0xC000003E: 0, 0xC00000B7: 1}

_SEIZE, _INTERRUPT, _SYSCALL, _INFO, _LISTEN = 0x4206, 0x4207, 24, 0x420E, 0x4208
_MARKS_CALLS, _FORKS, _VFORKS, _CLONES = 1, 2, 4, 8
_STOPPED_BY_CALL = signal.SIGTRAP | 0x80
_EVENT_FORK, _EVENT_VFORK, _EVENT_STOP = 1, 2, 128
_STOPS = (signal.SIGSTOP, signal.SIGTSTP, signal.SIGTTIN, signal.SIGTTOU)
_ALL = 0x40000000
_CREATES = os.O_CREAT | os.O_TRUNC | getattr(os, "O_TMPFILE", 0)
_WRITABLE, _SHARED, _ANONYMOUS = 0x2, 0x1, 0x20
_ASKS = (0x541B, 0x5421, 0x5401, 0x5450, 0x5451, 0x5413)
"""The requests of ``ioctl`` for what is there to read, whether to wait, and so on."""


class _SystemCall(ctypes.Structure):
    _fields_ = (
        ("kind", ctypes.c_uint8),
        ("pad", ctypes.c_uint8 * 3),
        ("machine", ctypes.c_uint32),
        ("instruction", ctypes.c_uint64),
        ("stack", ctypes.c_uint64),
        ("number", ctypes.c_uint64),
        ("args", ctypes.c_uint64 * 6),
    )


class Calls:
    """Knows the calls of one kind of machine by their numbers."""

    def __init__(self, machine: int) -> None:
        """Take the kernel's number of a kind of machine; raise KeyError if unknown."""
        self._column = _MACHINES[machine]
        self._harmless = set(self._numbers(_HARMLESS).values())
        self._sometimes = {n: name for name, n in self._numbers(_SOMETIMES).items()}
        self._unseen = set(self._numbers(_NEVER_SEEN_AGAIN).values())

    def leaves(self, number: int, args: _Args) -> bool:
        """Return whether a call may leave something that outlives the process."""
        match self._sometimes.get(number, ""):
            case "open":
                return bool(args[1] & _CREATES)
            case "openat":
                return bool(args[2] & _CREATES)
            case "ioctl":
                return args[1] not in _ASKS
            case "mmap":
                return False
        return number not in self._harmless

    def hides(self, number: int, args: _Args) -> bool:
        """Return whether after a call things can be left without a call."""
        if self._sometimes.get(number) == "mmap":
            own = bool(args[3] & _ANONYMOUS) or not args[3] & _SHARED
            return bool(args[2] & _WRITABLE) and not own
        return number in self._unseen

    def _numbers(self, table: str) -> dict[str, int]:
        found = {}
        for entry in table.split():
            name, _, numbers = entry.partition(":")
            if number := numbers.split("/")[self._column]:
                found[name] = int(number)
        return found


class _Watch:
    def __init__(self, process: int, path: Path) -> None:
        self._process = process
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._libc.ptrace.restype = ctypes.c_long
        self._libc.ptrace.argtypes = (
            ctypes.c_long,
            ctypes.c_long,
            ctypes.c_void_p,
            ctypes.c_void_p,
        )
        self._counts = [0, 0, 0, 0]
        self._file = os.open(path, os.O_WRONLY)
        self._calls: Calls | None = None

    def attach(self) -> None:
        """Watch each thread of the process, and say so."""
        options = _MARKS_CALLS | _FORKS | _VFORKS | _CLONES
        for name in os.listdir(f"/proc/{self._process}/task"):  # noqa: PTH208
            self._ask(_SEIZE, int(name), data=options)
            self._ask(_INTERRUPT, int(name))
        mapped = Path(f"/proc/{self._process}/maps").read_text()
        files = Path(f"/proc/{self._process}/fd")
        rings = [f for f in files.iterdir() if _place(f).startswith("anon_inode:[io_")]
        if " rw-s " in mapped or " rwxs " in mapped or rings:
            self._counts[3] = 1
        children = Path(f"/proc/{self._process}/task").glob("*/children")
        ours = str(os.getpid())
        if any(set(f.read_text().split()) - {ours} for f in children):
            self._counts[3] = 1
        self._counts[0] = 1
        self._note()

    def follow(self) -> None:
        """Count until the process has ended."""
        while True:
            try:
                thread, status = os.waitpid(-1, _ALL)
            except ChildProcessError:
                return
            if not os.WIFSTOPPED(status):
                continue
            sign, event = os.WSTOPSIG(status), status >> 16
            if sign == _STOPPED_BY_CALL:
                self._called(thread)
                self._go_on(thread)
            elif event == _EVENT_STOP and sign in _STOPS:
                self._ask(_LISTEN, thread, may_be_gone=True)
            elif event:
                if event in (_EVENT_FORK, _EVENT_VFORK):
                    self._counts[3] = 1
                    self._note()
                self._go_on(thread)
            else:
                self._go_on(thread, sign)

    def _called(self, thread: int) -> None:
        call = _SystemCall()
        size = ctypes.sizeof(call)
        found = self._libc.ptrace(_INFO, thread, size, ctypes.addressof(call))
        if found < 0 or call.kind != 1:
            return
        if self._calls is None:
            self._calls = Calls(call.machine)
        number, args = int(call.number), tuple(call.args)
        if self._calls.leaves(number, args):
            self._counts[1 if thread == self._process else 2] += 1
        elif not self._calls.hides(number, args):
            return
        if self._calls.hides(number, args):
            self._counts[3] = 1
        self._note()

    def _note(self) -> None:
        os.pwrite(self._file, COUNTS.pack(*self._counts), 0)

    def _go_on(self, thread: int, sign: int = 0) -> None:
        self._ask(_SYSCALL, thread, data=sign, may_be_gone=True)

    def _ask(
        self, what: int, thread: int, data: int = 0, *, may_be_gone: bool = False
    ) -> None:
        if self._libc.ptrace(what, thread, None, data) < 0 and not may_be_gone:
            raise OSError(ctypes.get_errno(), f"ptrace {what:#x} of {thread}")


def _place(entry: Path) -> str:
    try:
        return os.readlink(entry)  # noqa: PTH115 - no path
    except OSError:
        return ""


def main() -> None:
    """Watch a process until it ends."""
    watch = _Watch(int(sys.argv[1]), Path(sys.argv[2]))
    watch.attach()
    watch.follow()


if __name__ == "__main__":
    main()

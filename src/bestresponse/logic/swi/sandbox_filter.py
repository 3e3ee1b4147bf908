"""The system calls a confined process may make, as a seccomp filter in classic BPF.

Everything not named is refused.

A filter is a list of instructions over the record `seccomp_data` (call number, architecture, six
arguments); see seccomp(2) and `Documentation/userspace-api/seccomp_filter.rst` of the Linux kernel.
The filter here lets a process compute, read and write descriptors it already has, and open files
for reading. It cannot create, change or delete a file, open a socket, start a process or a thread,
signal or trace another process, or raise its own limits.

`execve` is allowed for one address of the file name only: that of the string in the process that
installs the filter. That process needs it once, to become the program to be confined; afterwards
the address means nothing.
"""

import struct
from dataclasses import dataclass
from pathlib import Path

ALLOW = 0x7FFF0000
KILL = 0x80000000
_ERRNO = 0x00050000
_EPERM = 1
_EACCES = 13
_ENOTTY = 25

_LOAD = 0x20
_JUMP_EQUAL = 0x15
_JUMP_ANY_BIT = 0x45
_RETURN = 0x06
_CALL_NUMBER = 0
_ARCHITECTURE = 4
_FIRST_ARGUMENT = 16

# O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_TMPFILE: the same bits on both machines.
_WRITING = 0o3 | 0o100 | 0o1000 | 0o2000 | 0o20000000

_CALLS = [
    line.split()
    for line in Path(__file__).with_name("system_calls.txt").read_text("utf-8").splitlines()
    if line[0] != "#"
]
"""Name, number on x86-64, number on aarch64."""


@dataclass(frozen=True, slots=True)
class Processor:
    """What the filter must know of a processor.

    This is its audit number and the calls that are looked at more closely.
    """

    audit: int
    column: int
    openat: int
    open: int | None
    ioctl: int
    prlimit64: int
    execve: int

    @property
    def calls(self) -> tuple[int, ...]:
        """Numbers of the calls allowed whatever their arguments, the frequent ones first."""
        return tuple(int(row[self.column]) for row in _CALLS if row[self.column] != "-")


MACHINES: dict[str, Processor] = {
    "x86_64": Processor(
        0xC000003E,
        1,
        openat=257,
        open=2,
        ioctl=16,
        prlimit64=302,
        execve=59,
    ),
    "aarch64": Processor(
        0xC00000B7,
        2,
        openat=56,
        open=None,
        ioctl=29,
        prlimit64=261,
        execve=221,
    ),
}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One `struct sock_filter`: operation, operand and jumps.

    The jumps say how far to jump if a test holds or fails.
    """

    code: int
    operand: int
    when_true: int = 0
    when_false: int = 0


def refuse(errno: int) -> int:
    """Return the action that makes a call fail with `errno`."""
    return _ERRNO | errno


def filter_for(machine: Processor, exec_address: int) -> tuple[Instruction, ...]:
    """Return the filter for one machine.

    `execve` passes only with its file name at `exec_address`.
    """
    body: list[Instruction] = [
        Instruction(_LOAD, _ARCHITECTURE),
        Instruction(_JUMP_EQUAL, machine.audit, when_true=1),
        Instruction(_RETURN, KILL),
        Instruction(_LOAD, _CALL_NUMBER),
    ]
    for number in machine.calls:
        body += _when_call(number, (Instruction(_RETURN, ALLOW),))
    body += _when_call(machine.openat, _unless_bits(argument=2, bits=_WRITING))
    if machine.open is not None:
        body += _when_call(machine.open, _unless_bits(argument=1, bits=_WRITING))
    body += _when_call(machine.ioctl, (Instruction(_RETURN, refuse(_ENOTTY)),))
    body += _when_call(machine.prlimit64, _only_if_equal(argument=2, value=0))
    body += _when_call(machine.execve, _only_if_equal(argument=0, value=exec_address))
    body.append(Instruction(_RETURN, refuse(_EPERM)))
    return tuple(body)


def pack_filter(program: tuple[Instruction, ...]) -> bytes:
    """Return the program as the kernel reads it: an array of `struct sock_filter`."""
    return b"".join(
        struct.pack(
            "<HBBI",
            i.code,
            i.when_true,
            i.when_false,
            i.operand,
        )
        for i in program
    )


def _when_call(number: int, block: tuple[Instruction, ...]) -> tuple[Instruction, ...]:
    return (Instruction(_JUMP_EQUAL, number, when_false=len(block)), *block)


def _unless_bits(argument: int, bits: int) -> tuple[Instruction, ...]:
    return (
        Instruction(_LOAD, _FIRST_ARGUMENT + 8 * argument),
        Instruction(_JUMP_ANY_BIT, bits, when_false=1),
        Instruction(_RETURN, refuse(_EACCES)),
        Instruction(_RETURN, ALLOW),
    )


def _only_if_equal(argument: int, value: int) -> tuple[Instruction, ...]:
    low = _FIRST_ARGUMENT + 8 * argument
    return (
        Instruction(_LOAD, low),
        Instruction(_JUMP_EQUAL, value & 0xFFFFFFFF, when_false=3),
        Instruction(_LOAD, low + 4),
        Instruction(_JUMP_EQUAL, value >> 32, when_false=1),
        Instruction(_RETURN, ALLOW),
        Instruction(_RETURN, refuse(_EPERM)),
    )

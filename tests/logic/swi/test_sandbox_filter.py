"""The seccomp filter, run by a small interpreter of classic BPF: the same on every machine,
whatever kernel it has."""

import struct

import pytest

from bestresponse.logic.swi.sandbox_filter import (
    ALLOW,
    KILL,
    MACHINES,
    filter_for,
    pack_filter,
    refuse,
)

EPERM, EACCES, ENOTTY = refuse(1), refuse(13), refuse(25)
ADDRESS = 0x12_3456_7000
O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_CLOEXEC = (
    0,
    1,
    2,
    0o100,
    0o1000,
    0o2000,
    0o2000000,
)

X86 = {
    "read": 0,
    "write": 1,
    "open": 2,
    "close": 3,
    "mmap": 9,
    "ioctl": 16,
    "socket": 41,
    "connect": 42,
    "sendto": 44,
    "clone": 56,
    "fork": 57,
    "vfork": 58,
    "execve": 59,
    "exit": 60,
    "kill": 62,
    "truncate": 76,
    "rename": 82,
    "mkdir": 83,
    "creat": 85,
    "link": 86,
    "unlink": 87,
    "symlink": 88,
    "chmod": 90,
    "ptrace": 101,
    "setuid": 105,
    "prctl": 157,
    "setrlimit": 160,
    "mount": 165,
    "tkill": 200,
    "tgkill": 234,
    "openat": 257,
    "mkdirat": 258,
    "unlinkat": 263,
    "exit_group": 231,
    "prlimit64": 302,
    "process_vm_writev": 311,
    "memfd_create": 319,
    "bpf": 321,
    "execveat": 322,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "clone3": 435,
    "openat2": 437,
}
ARM = {
    "read": 63,
    "write": 64,
    "openat": 56,
    "close": 57,
    "mmap": 222,
    "ioctl": 29,
    "socket": 198,
    "connect": 203,
    "sendto": 206,
    "clone": 220,
    "execve": 221,
    "exit": 93,
    "kill": 129,
    "truncate": 45,
    "renameat": 38,
    "mkdirat": 34,
    "linkat": 37,
    "unlinkat": 35,
    "symlinkat": 36,
    "fchmodat": 53,
    "ptrace": 117,
    "setuid": 146,
    "prctl": 167,
    "setrlimit": 164,
    "mount": 40,
    "tkill": 130,
    "tgkill": 131,
    "exit_group": 94,
    "prlimit64": 261,
    "process_vm_writev": 271,
    "memfd_create": 279,
    "bpf": 280,
    "execveat": 281,
    "io_uring_setup": 425,
    "pidfd_open": 434,
    "clone3": 435,
    "openat2": 437,
}
NUMBERS = {"x86_64": X86, "aarch64": ARM}
HARMLESS = ("read", "write", "close", "mmap", "exit", "exit_group")
LOOKED_AT = ("open", "openat", "ioctl", "prlimit64", "execve")


def run(code: bytes, record: bytes) -> int:
    """Interpret a packed filter over one `seccomp_data` record, as the kernel would."""
    program = list(struct.iter_unpack("<HBBI", code))
    accumulator, position = 0, 0
    while True:
        operation, when_true, when_false, operand = program[position]
        position += 1
        if operation == 0x20:
            (accumulator,) = struct.unpack_from("<I", record, operand)
        elif operation == 0x15:
            position += when_true if accumulator == operand else when_false
        elif operation == 0x45:
            position += when_true if accumulator & operand else when_false
        elif operation == 0x06:
            return operand
        else:
            raise AssertionError(f"operation {operation:#x} is not used by this filter")


def verdict(machine: str, call: int, *arguments: int, audit: int | None = None) -> int:
    filled = (*arguments, *[0] * (6 - len(arguments)))
    record = struct.pack("<iIQ6Q", call, audit or MACHINES[machine].audit, 0, *filled)
    return run(pack_filter(filter_for(MACHINES[machine], ADDRESS)), record)


each_machine = pytest.mark.parametrize("machine", ["x86_64", "aarch64"])


@each_machine
def test_computing_and_existing_descriptors_are_allowed(machine: str) -> None:
    assert {verdict(machine, NUMBERS[machine][name]) for name in HARMLESS} == {ALLOW}


@each_machine
def test_whatever_reaches_outside_is_refused(machine: str) -> None:
    others = [name for name in NUMBERS[machine] if name not in (*HARMLESS, *LOOKED_AT)]
    assert {name: verdict(machine, NUMBERS[machine][name]) for name in others} == dict.fromkeys(
        others, EPERM
    )


@each_machine
@pytest.mark.parametrize("flags", [O_RDONLY, O_RDONLY | O_CLOEXEC])
def test_files_open_for_reading(machine: str, flags: int) -> None:
    assert verdict(machine, NUMBERS[machine]["openat"], 0, 0, flags) == ALLOW


@each_machine
@pytest.mark.parametrize(
    "flags", [O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_APPEND, O_CLOEXEC | O_WRONLY | O_CREAT]
)
def test_files_never_open_for_writing(machine: str, flags: int) -> None:
    assert verdict(machine, NUMBERS[machine]["openat"], 0, 0, flags) == EACCES


@pytest.mark.parametrize(
    ("flags", "expected"), [(O_RDONLY, ALLOW), (O_WRONLY, EACCES), (O_CREAT | O_RDWR, EACCES)]
)
def test_the_old_open_of_x86_is_held_to_the_same(flags: int, expected: int) -> None:
    assert verdict("x86_64", X86["open"], 0, flags) == expected


@each_machine
def test_a_program_is_executed_only_from_the_agreed_address(machine: str) -> None:
    execve = NUMBERS[machine]["execve"]
    assert verdict(machine, execve, ADDRESS) == ALLOW
    assert verdict(machine, execve, ADDRESS + 1) == EPERM
    assert verdict(machine, execve, ADDRESS & 0xFFFFFFFF) == EPERM
    assert verdict(machine, execve, ADDRESS + (1 << 32)) == EPERM


@each_machine
def test_limits_can_be_read_but_not_set(machine: str) -> None:
    assert verdict(machine, NUMBERS[machine]["prlimit64"], 0, 7, 0, 0x7FFF0000) == ALLOW
    assert verdict(machine, NUMBERS[machine]["prlimit64"], 0, 7, 0x7FFF0000, 0) == EPERM
    assert verdict(machine, NUMBERS[machine]["prlimit64"], 0, 7, 1 << 40, 0) == EPERM


@each_machine
def test_nothing_is_a_terminal(machine: str) -> None:
    assert verdict(machine, NUMBERS[machine]["ioctl"], 0, 0x5412) == ENOTTY


@each_machine
def test_calls_of_another_architecture_end_the_process(machine: str) -> None:
    assert verdict(machine, NUMBERS[machine]["read"], audit=0x40000003) == KILL


def test_the_x32_numbers_of_x86_are_refused() -> None:
    assert verdict("x86_64", 0x40000000 | X86["read"]) == EPERM


@each_machine
def test_the_filter_fits_the_kernel(machine: str) -> None:
    program = filter_for(MACHINES[machine], ADDRESS)
    assert len(program) < 4096
    assert all(max(i.when_true, i.when_false) < 256 for i in program)

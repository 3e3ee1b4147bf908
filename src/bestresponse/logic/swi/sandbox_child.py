"""The first thing a confined process runs.

It gives up its rights one after another and then becomes the program.

Started by `sandbox.start_confined` as a script of its own with a bare interpreter (`python -I -S`),
so it uses only the standard library and starts in a few hundredths of a second. Its one argument is
the plan as JSON; its first line of output says which layers took hold (`null`) and why the others
did not (a sentence); then it executes the command and is no more.

Landlock: Linux `Documentation/userspace-api/landlock.rst`; seccomp: see `sandbox_filter`.
"""

import ctypes
import json
import os
import resource
import struct
import sys
from collections.abc import Callable
from typing import Any

Plan = dict[str, Any]
"""What `sandbox.make_plan` writes. Nothing of this package can be imported here."""

_LANDLOCK_CREATE = 444
_LANDLOCK_ADD = 445
_LANDLOCK_RESTRICT = 446
_LANDLOCK_VERSION = 1
_RULE_PATH_BENEATH = 1
_EXECUTE = 1
_READ_FILE = 4
_READ_DIR = 8
# Bits of the file rights that each version of Landlock knows (13 at first; then refer, truncate,
# device ioctl).
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15, 5: 16}
_TCP_BIND_AND_CONNECT = 3
_ABSTRACT_SOCKETS_AND_SIGNALS = 3

_PR_SET_NO_NEW_PRIVS = 38
_PR_SET_SECCOMP = 22
_SECCOMP_MODE_FILTER = 2
_PROT_READ_WRITE = 3
_MAP_PRIVATE_ANONYMOUS_FIXED = 0x02 | 0x20 | 0x100000


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _drop_privileges(plan: Plan) -> None:
    """Never gain rights again; a superuser becomes `plan["account"]`."""
    if plan["account"] is not None and os.geteuid() == 0:
        os.setgroups([])
        os.setgid(plan["account"])
        os.setuid(plan["account"])
    if not sys.platform.startswith("linux"):
        raise OSError("no_new_privs needs Linux")
    _checked(_libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))


def _limit_resources(plan: Plan) -> None:
    """Set every limit the system knows; name the first it refuses only after the others are set."""
    refused: list[str] = []
    for name, value in plan["limits"].items():
        try:
            kind = getattr(resource, name)
            _, hard = resource.getrlimit(kind)
            bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
            resource.setrlimit(kind, (bound, bound))
        except (AttributeError, ValueError, OSError):
            refused.append(name)
    if refused:
        raise OSError(f"this system refuses {', '.join(refused)}")


def _restrict_files(plan: Plan) -> None:
    """Landlock: read only the named files, execute only the program, write nothing.

    The program's loader can be executed too.
    """
    if not sys.platform.startswith("linux"):
        raise OSError("Landlock needs Linux")
    libc = _libc()
    version = _checked(libc.syscall(_LANDLOCK_CREATE, None, ctypes.c_size_t(0), _LANDLOCK_VERSION))
    rights = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    network = _TCP_BIND_AND_CONNECT if version >= 4 else 0
    scope = _ABSTRACT_SOCKETS_AND_SIGNALS if version >= 6 else 0
    # A kernel takes no more fields than its version knows: the files, TCP, the scope.
    fields = [rights]
    if version >= 4:
        fields.append(network)
    if version >= 6:
        fields.append(scope)
    attributes = struct.pack(f"<{len(fields)}Q", *fields)
    size = len(attributes)
    ruleset = _checked(libc.syscall(_LANDLOCK_CREATE, attributes, ctypes.c_size_t(size), 0))
    for path in plan["readable"]:
        _permit(
            libc,
            ruleset,
            path,
            _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0),
        )
    for path in plan["executable"]:
        _permit(libc, ruleset, path, _READ_FILE | _EXECUTE)
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.syscall(_LANDLOCK_RESTRICT, ruleset, 0))
    os.close(ruleset)


def _permit(libc: ctypes.CDLL, ruleset: int, path: str, rights: int) -> None:
    try:
        descriptor = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except FileNotFoundError:
        return
    rule = struct.pack("<Qi", rights, descriptor)
    _checked(libc.syscall(_LANDLOCK_ADD, ruleset, _RULE_PATH_BENEATH, rule, 0))
    os.close(descriptor)


def _filter_calls(plan: Plan) -> None:
    """Install the seccomp filter that the plan brings along."""
    if not sys.platform.startswith("linux"):
        raise OSError("seccomp needs Linux")
    if plan["filter"] is None:
        raise OSError(f"no filter is written for the processor {os.uname().machine}")
    code = bytes.fromhex(plan["filter"])
    array = ctypes.create_string_buffer(code, len(code))
    header = struct.pack("@HP", len(code) // 8, ctypes.addressof(array))
    libc = _libc()
    _checked(libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    _checked(libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, header, 0, 0))


_LAYERS: dict[str, Callable[[Plan], None]] = {
    "privileges": _drop_privileges,
    "limits": _limit_resources,
    "files": _restrict_files,
    "calls": _filter_calls,
}


def _place_name(name: bytes, address: int) -> int:
    """Put the file name where the filter expects it and return that address.

    Elsewhere if the page is taken.
    """
    libc = _libc()
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        *[ctypes.c_int] * 3,
        ctypes.c_long,
    ]
    page = libc.mmap(
        address,
        len(name) + 1,
        _PROT_READ_WRITE,
        _MAP_PRIVATE_ANONYMOUS_FIXED,
        -1,
        0,
    )
    if page != address:
        raise OSError("the page for the program's name is taken")
    ctypes.memmove(address, name + b"\0", len(name) + 1)
    return address


def _execute(command: list[str], address: int | None) -> None:
    """Become the command, with an empty environment."""
    if address is None:
        os.execve(command[0], command, {})
    arguments = (ctypes.c_char_p * (len(command) + 1))(
        *[os.fsencode(word) for word in command], None
    )
    _checked(_libc().execve(ctypes.c_void_p(address), arguments, (ctypes.c_char_p * 1)(None)))


def apply_layers(plan: Plan) -> dict[str, str | None]:
    """Give up rights layer by layer; return for each layer None, or why it did not take hold."""
    report: dict[str, str | None] = {}
    for name in plan["layers"]:
        try:
            _LAYERS[name](plan)
            report[name] = None
        except OSError as error:
            report[name] = str(error)
    return report


def run_confined(argument: str) -> None:
    """Apply every layer of the plan, report, and become the command."""
    plan = json.loads(argument)
    address = None
    if plan["filter"] is not None:
        address = _place_name(os.fsencode(plan["command"][0]), plan["exec_address"])
    os.write(1, json.dumps(apply_layers(plan)).encode() + b"\n")
    _execute(plan["command"], address)


if __name__ == "__main__":
    run_confined(sys.argv[1])

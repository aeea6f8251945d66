"""Run a command with the system calls that a unit of systemd permits: `python -m tests.confined UNIT COMMAND …`.

It applies the unit's SystemCallFilter with libseccomp, as systemd does. It needs systemd-analyze for the groups of
calls.
"""

import ctypes
import errno
import os
import subprocess
import sys
from pathlib import Path

ALLOW, REFUSE = 0x7FFF0000, 0x00050000 | errno.EPERM  # SCMP_ACT_ALLOW, SCMP_ACT_ERRNO
UNKNOWN = -1  # __NR_SCMP_ERROR: libseccomp does not know the call


def calls_of(group: str) -> set[str]:
    """Return the system calls of a group, such as @system-service."""
    result = subprocess.run(["systemd-analyze", "syscall-filter", group], capture_output=True, text=True, check=True)
    names = [line.strip() for line in result.stdout.splitlines()[1:]]
    calls = {name for name in names if name and name[0] not in "#@"}
    return calls.union(*(calls_of(name) for name in names if name.startswith("@")))


def permitted_calls(unit: str) -> set[str]:
    """Return the calls that a unit permits. systemd always permits the group @default."""
    permitted = calls_of("@default")
    for line in unit.splitlines():
        name, _, groups = line.partition("=")
        if name == "SystemCallFilter":
            for group in groups.removeprefix("~").split():
                permitted = permitted - calls_of(group) if groups.startswith("~") else permitted | calls_of(group)
    return permitted


def confine(calls: set[str]) -> None:
    """Let this process and its children make only these calls, permanently."""
    library = ctypes.CDLL("libseccomp.so.2")
    library.seccomp_init.restype = ctypes.c_void_p
    context = ctypes.c_void_p(library.seccomp_init(ctypes.c_uint32(REFUSE)))
    for call in calls:
        number = library.seccomp_syscall_resolve_name(call.encode())
        if number != UNKNOWN:
            library.seccomp_rule_add(context, ctypes.c_uint32(ALLOW), number, 0)
    # seccomp_load also sets no_new_privs.
    status = library.seccomp_load(context)
    if status:
        raise OSError(-status, os.strerror(-status))


if __name__ == "__main__":
    confine(permitted_calls(Path(sys.argv[1]).read_text()))
    os.execv(sys.argv[2], sys.argv[2:])  # noqa: S606 - the test's own command

"""What an ELF executable needs from the machine it runs on: architecture, shared libraries, C library version.

Read from the file itself, so that no binutils are needed and a binary for another machine can be read too."""

import dataclasses
import pathlib
import re
import struct

# e_machine of the ELF header, and what each kind of package calls that architecture.
MACHINES = {
    62: {"rust": "x86_64", "debian": "amd64", "node": "x64", "oci": "amd64", "homebrew": "x86_64"},
    183: {"rust": "aarch64", "debian": "arm64", "node": "arm64", "oci": "arm64", "homebrew": "arm64"},
}

PT_LOAD, PT_DYNAMIC, PT_INTERP = 1, 2, 3
DT_NEEDED, DT_STRTAB, DT_VERNEED, DT_VERNEEDNUM = 1, 5, 0x6FFFFFFE, 0x6FFFFFFF


@dataclasses.dataclass(frozen=True)
class Executable:
    path: pathlib.Path
    machine: dict
    interpreter: str | None
    libraries: tuple[str, ...]
    # The newest GLIBC_x.y that it asks for; None where it is static.
    glibc: tuple[int, int] | None

    @property
    def static(self):
        return self.interpreter is None


class _File:
    """A 64-bit little-endian ELF file, read by address."""

    def __init__(self, path):
        self.bytes = path.read_bytes()
        if self.bytes[:6] != b"\x7fELF\x02\x01":
            raise SystemExit(f"{path} is not a 64-bit Linux executable")
        self.machine, = struct.unpack_from("<H", self.bytes, 18)
        start, = struct.unpack_from("<Q", self.bytes, 32)
        size, count = struct.unpack_from("<HH", self.bytes, 54)
        # (type, offset, address, size in the file) of each program header
        self.segments = []
        for number in range(count):
            kind, _, offset, address, _, length = struct.unpack_from("<IIQQQQ", self.bytes, start + number * size)
            self.segments.append((kind, offset, address, length))

    def segment(self, kind):
        return next(((offset, length) for found, offset, _, length in self.segments if found == kind), None)

    def offset(self, address):
        for kind, offset, start, length in self.segments:
            if kind == PT_LOAD and start <= address < start + length:
                return offset + address - start
        raise SystemExit("the executable's dynamic section points outside of the file")

    def text(self, offset):
        return self.bytes[offset:self.bytes.index(b"\0", offset)].decode()

    def dynamic(self):
        """The dynamic section as (tag, value) pairs."""
        offset, length = self.segment(PT_DYNAMIC) or (0, 0)
        return list(struct.iter_unpack("<qQ", self.bytes[offset:offset + length // 16 * 16]))


def read(path):
    path = pathlib.Path(path)
    file = _File(path)
    if file.machine not in MACHINES:
        raise SystemExit(f"{path} is for a machine that packages are not made for (ELF machine {file.machine})")
    interpreter = file.segment(PT_INTERP)
    if interpreter is None:
        return Executable(path, MACHINES[file.machine], None, (), None)
    entries = file.dynamic()
    values = dict(entries)
    strings = file.offset(values[DT_STRTAB])
    libraries = tuple(file.text(strings + value) for tag, value in entries if tag == DT_NEEDED)
    versions = _needed_versions(file, values, strings)
    glibc = max((tuple(map(int, found.groups())) for found in map(re.compile(r"GLIBC_(\d+)\.(\d+)").match, versions) if found), default=None)
    if glibc is None:
        raise SystemExit(f"{path} is linked to another C library than glibc; link it statically instead")
    return Executable(path, MACHINES[file.machine], file.text(interpreter[0]), libraries, glibc)


def _needed_versions(file, values, strings):
    """Names such as GLIBC_2.34 from the chain of "version needed" records, one for each library."""
    if DT_VERNEED not in values:
        return []
    names, record = [], file.offset(values[DT_VERNEED])
    for _ in range(values[DT_VERNEEDNUM]):
        _, count, _, first, following = struct.unpack_from("<HHIII", file.bytes, record)
        entry = record + first
        for _ in range(count):
            _, _, _, name, step = struct.unpack_from("<IHHII", file.bytes, entry)
            names.append(file.text(strings + name))
            entry += step
        record += following
    return names

"""The Python wheel `quire-server`: `pip install quire-server` puts `quire` on the PATH; `python -m quire_server` runs it too."""

import base64
import hashlib

import archive
import release


def build(made):
    version = made.version.replace("-alpha.", "a").replace("-beta.", "b").replace("-rc.", "rc")
    tags = platforms(made.executable)
    stem = f"quire_server-{version}"
    about = f"{stem}.dist-info"
    files = {
        "quire_server/__init__.py": (made.text("packaging/pypi/__init__.py"), 0o644),
        "quire_server/__main__.py": (made.text("packaging/pypi/__main__.py"), 0o644),
        f"{stem}.data/scripts/quire": (made.binary(), 0o755),
        f"{about}/METADATA": (metadata(made, version), 0o644),
        f"{about}/WHEEL": (wheel(tags), 0o644),
        f"{about}/licenses/LICENSE": (made.text("LICENSE"), 0o644),
    }
    files[f"{about}/RECORD"] = (record(files, f"{about}/RECORD"), 0o644)
    target = made.out / f"{stem}-py3-none-{'.'.join(tags)}.whl"
    target.write_bytes(archive.zip(files, made.epoch, made.compression))
    return [target]


def platforms(binary):
    """The platform tags pip compares with the machine. A static executable runs beside any C library, musl's as well."""
    machine = binary.machine["rust"]
    if not binary.static:
        return [f"manylinux_{binary.glibc[0]}_{binary.glibc[1]}_{machine}"]
    # The oldest tags that exist for each machine.
    oldest = {"x86_64": ["manylinux_2_5_x86_64", "manylinux1_x86_64"], "aarch64": ["manylinux_2_17_aarch64", "manylinux2014_aarch64"]}
    return [*oldest[machine], f"musllinux_1_1_{machine}"]


def metadata(made, version):
    lines = ["Metadata-Version: 2.4", "Name: quire-server", f"Version: {version}", f"Summary: {release.SUMMARY}", "License-Expression: Apache-2.0",
             "License-File: LICENSE", "Requires-Python: >=3.8", "Description-Content-Type: text/markdown",
             "Classifier: Operating System :: POSIX :: Linux", "Classifier: Topic :: Text Processing :: Indexing", ""]
    return "\n".join(lines).encode() + b"\n" + made.text("packaging/registry.md")


def wheel(tags):
    lines = ["Wheel-Version: 1.0", "Generator: quire", "Root-Is-Purelib: false", *(f"Tag: py3-none-{tag}" for tag in tags)]
    return "\n".join(lines).encode() + b"\n"


def record(files, itself):
    lines = []
    for path, (content, _) in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{path},sha256={digest},{len(content)}")
    return "\n".join([*lines, f"{itself},,"]).encode() + b"\n"

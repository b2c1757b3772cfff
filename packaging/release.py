"""What every package is made of: the executable, its version, its manual pages and completions, and a fixed time."""

import dataclasses
import gzip
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib

import executable

ROOT = pathlib.Path(__file__).resolve().parents[1]
SUMMARY = "Self-hosted document retrieval: search, read and ask your documents over an API"
DESCRIPTION = """quire keeps documents in boxes. Programs search them by meaning and by words, read them page by page and ask
them questions over a JSON API; people use the dashboard. One program, no cloud, and the models are part of it."""

# The name a shell looks for, by shell.
COMPLETIONS = {"bash": "quire", "zsh": "_quire", "fish": "quire.fish"}


@dataclasses.dataclass(frozen=True)
class Release:
    version: str
    executable: executable.Executable
    # Where packages are written, and where releases are downloaded from.
    out: pathlib.Path
    base_url: str
    # Every file in every package has this time, in seconds since 1970, so that two builds are the same byte for byte.
    epoch: int
    # zlib's 0 (none, for trying) to 9 (small, for a release).
    compression: int
    # What the container image stands on: "auto", "debian", "libraries" or the path of a tar.
    rootfs: str
    # Name → content: quire.1, quire-serve.1, …
    manual: dict
    # Name → content, by shell's name.
    completions: dict

    @property
    def machine(self):
        return self.executable.machine

    def binary(self):
        return self.executable.path.read_bytes()

    @staticmethod
    def text(name):
        return (ROOT / name).read_bytes()

    def compressed(self, content):
        return gzip.compress(content, self.compression, mtime=self.epoch)


def prepare(binary, version, out, base_url, compression, rootfs):
    """Reads the executable and asks it for its manual pages and completions."""
    version = version or workspace_version()
    if not re.fullmatch(r"\d+\.\d+\.\d+(-(alpha|beta|rc)\.\d+)?", version):
        raise SystemExit(f"{version} is not a version such as 1.2.3 or 1.2.3-rc.1")
    said = run(binary, "--version").decode().split()
    if said != ["quire", version]:
        raise SystemExit(f"{binary} says that it is {' '.join(said)}, not quire {version}: build it from the tagged source, or give its --version")
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        run(binary, "man", "--to", folder)
        manual = {page.name: page.read_bytes() for page in sorted(pathlib.Path(folder).iterdir())}
    completions = {shell: run(binary, "completions", shell) for shell in COMPLETIONS}
    return Release(version, executable.read(binary), out, base_url.format(version=version), time_of_sources(), compression, rootfs,
                   manual, completions)


def run(*command):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def workspace_version():
    return tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["package"]["version"]


def time_of_sources():
    """SOURCE_DATE_EPOCH, or the time of the last commit, or (from an archive without git) 1980, the oldest that a zip can say."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    found = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%ct"], capture_output=True, text=True)
    return int(found.stdout) if found.returncode == 0 else 315532800

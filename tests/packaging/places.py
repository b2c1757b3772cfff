"""Where a package is installed and run: on this machine, or in a root file system of its own that knows nothing of Rust."""

import os
import pathlib
import shutil
import subprocess

# What the program and package managers are told; nothing of the builder's environment gets in.
ENVIRONMENT = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive",
               "QUIRE__HTTP__METRICS_LISTEN": "", "QUIRE__LOG__LEVEL": "warn"}


class Host:
    """This machine, in a folder of the package's own."""

    name = "on this machine"

    def __init__(self, folder):
        self.folder = folder
        folder.mkdir(parents=True)

    def has(self, program):
        return shutil.which(program) is not None

    def command(self, line, user=None):
        return [str(word) for word in line]

    def environment(self):
        return os.environ | {name: value for name, value in ENVIRONMENT.items() if name.startswith("QUIRE")}

    def outside(self, path):
        return pathlib.Path(path)

    def inside(self, path):
        return path


class Chroot:
    """A root file system in a folder; processes in it see no others."""

    name = "in a fresh root file system"

    def __init__(self, folder):
        self.root = folder
        folder.mkdir(parents=True)
        self.folder = pathlib.Path("/srv")
        # From the image's configuration, where there is one.
        self.settings = {}

    def unpack(self, layer):
        subprocess.run(["tar", "-xf", layer, "-C", self.root], check=True)
        for needed in ("proc", "srv"):
            (self.root / needed).mkdir(exist_ok=True)

    def has(self, program):
        return any(os.path.lexists(self.root / folder / program) for folder in ("usr/bin", "usr/sbin", "usr/local/bin"))

    def command(self, line, user=None):
        """`user` is a name or a number in the root file system."""
        isolate = ["unshare", "--mount", "--pid", "--fork", f"--root={self.root}", "--wd=/", "--mount-proc"]
        if user is not None:
            number, group = self.numbers(user)
            isolate += [f"--setuid={number}", f"--setgid={group}"]
        return [*isolate, *(str(word) for word in line)]

    def numbers(self, user):
        """User and group of a name; a number stands for both, as in the image."""
        if user.isdigit():
            return user, user
        lines = (self.root / "etc/passwd").read_text().splitlines()
        [found] = [line.split(":")[2:4] for line in lines if line.split(":")[0] == user]
        return found

    def environment(self):
        return ENVIRONMENT | self.settings

    def outside(self, path):
        """Where this machine finds a path of the root file system."""
        return self.root / str(path).lstrip("/")

    def inside(self, path):
        """Copies a file of this machine in; its path there."""
        shutil.copy(path, self.root / "srv")
        return self.folder / path.name


def chroot_works():
    """None, or why no root file system can be entered here."""
    if os.geteuid() != 0:
        return "only root may enter a root file system"
    if not shutil.which("unshare"):
        return "unshare is not installed"
    tried = subprocess.run(["unshare", "--mount", "--pid", "--fork", "--mount-proc", "true"], capture_output=True, text=True)
    return tried.stderr.strip() or None

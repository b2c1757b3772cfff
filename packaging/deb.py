"""The Debian package: program, service with a user of its own, settings, manual pages and completions."""

import email.utils
import gzip
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import textwrap

import release

# The package that has each library an executable may need; libc6 also comes with a version.
PACKAGES = {"libgcc_s.so.1": "libgcc-s1", "libstdc++.so.6": "libstdc++6"}
MAINTAINER = "The quire developers <quire@localhost>"
COMPLETIONS = {"bash": "usr/share/bash-completion/completions", "zsh": "usr/share/zsh/vendor-completions", "fish": "usr/share/fish/vendor_completions.d"}


def build(made):
    if not shutil.which("dpkg-deb"):
        raise SystemExit("the Debian package is written by dpkg-deb, which is not installed")
    # The revision after the hyphen counts packagings of one release.
    version = made.version.replace("-", "~") + "-1"
    target = made.out / f"quire_{version}_{made.machine['debian']}.deb"
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / "quire"
        files = payload(made, version)
        files |= control(made, version, files)
        for path, (content, mode) in files.items():
            file = root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(content)
            file.chmod(mode)
        for path in [root, *root.rglob("*")]:
            if path.is_dir():
                path.chmod(0o755)
            os.utime(path, (made.epoch, made.epoch))
        # xz is what Debian uses, and slow.
        packer = f"-Z{'xz' if made.compression else 'none'}"
        subprocess.run(["dpkg-deb", "--root-owner-group", packer, "--build", root, target], check=True, stdout=subprocess.DEVNULL,
                       env=os.environ | {"SOURCE_DATE_EPOCH": str(made.epoch)})
    return [target]


def payload(made, version):
    """What the package installs: path → (content, mode)."""
    best = lambda content: gzip.compress(content, 9, mtime=0)
    files = {
        "usr/bin/quire": (made.binary(), 0o755),
        "usr/lib/systemd/system/quire.service": (unit(made), 0o644),
        "etc/quire/quire.toml": (made.text("packaging/debian/quire.toml"), 0o644),
        "usr/share/doc/quire/copyright": (made.text("packaging/debian/copyright"), 0o644),
        "usr/share/doc/quire/README.md": (made.text("README.md"), 0o644),
        "usr/share/doc/quire/changelog.gz": (best(made.text("CHANGELOG.md")), 0o644),
        "usr/share/doc/quire/changelog.Debian.gz": (best(changelog(made, version)), 0o644),
        "usr/share/lintian/overrides/quire": (made.text("packaging/debian/lintian-overrides"), 0o644),
    }
    files |= {f"usr/share/man/man1/{page}.gz": (best(content), 0o644) for page, content in made.manual.items()}
    files |= {f"{COMPLETIONS[shell]}/{release.COMPLETIONS[shell]}": (content, 0o644) for shell, content in made.completions.items()}
    return files


def changelog(made, version):
    """Debian's own changelog, which says which release was packaged; what changed in it is in changelog.gz."""
    date = email.utils.formatdate(made.epoch)
    return f"quire ({version}) unstable; urgency=medium\n\n  * Release {made.version}.\n\n -- {MAINTAINER}  {date}\n".encode()


def unit(made):
    """The unit of deploy/ with the package's path and the package's user, so that `sudo -u quire quire …` works on the same data."""
    text = made.text("deploy/quire.service").decode()
    # The first lines say how to install it by hand, which the package has done.
    text = text[text.index("[Unit]"):].replace("/usr/local/bin/quire", "/usr/bin/quire").replace("DynamicUser=yes", "User=quire\nGroup=quire")
    for line in ("ExecStart=/usr/bin/quire serve --data /var/lib/quire --config /etc/quire/quire.toml", "User=quire"):
        if line not in text.splitlines():
            raise SystemExit(f"deploy/quire.service does not come to {line}: adapt packaging/deb.py")
    return text.encode()


def control(made, version, files):
    """What dpkg reads: path → (content, mode)."""
    size = sum((len(content) + 1023) // 1024 for content, _ in files.values())
    described = "\n".join(f" {line}" for line in textwrap.wrap(release.DESCRIPTION, 78))
    fields = f"""Package: quire
Version: {version}
Architecture: {made.machine['debian']}
Maintainer: {MAINTAINER}
Installed-Size: {size}
Depends: {', '.join(depends(made.executable))}
Recommends: ca-certificates, poppler-utils
Suggests: tesseract-ocr
Section: web
Priority: optional
Description: {release.SUMMARY[0].lower()}{release.SUMMARY[1:]}
{described}
"""
    sums = "".join(f"{hashlib.md5(content).hexdigest()}  {path}\n" for path, (content, _) in sorted(files.items()))
    scripts = {f"DEBIAN/{name}": (made.text(f"packaging/debian/{name}"), 0o755) for name in ("postinst", "prerm", "postrm")}
    return scripts | {
        "DEBIAN/control": (fields.encode(), 0o644),
        "DEBIAN/conffiles": (b"/etc/quire/quire.toml\n", 0o644),
        "DEBIAN/md5sums": (sums.encode(), 0o644),
    }


def depends(binary):
    needed = ["adduser"]
    if not binary.static:
        needed.append(f"libc6 (>= {binary.glibc[0]}.{binary.glibc[1]})")
        needed += [PACKAGES[library] for library in binary.libraries if library in PACKAGES]
    return needed

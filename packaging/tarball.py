"""The tarball: the program, its manual pages and completions, to be unpacked anywhere. Homebrew installs it too."""

import archive
import release


def build(made):
    folder = name(made).removesuffix(".tar.gz")
    files = {"bin/quire": (made.binary(), 0o755)}
    files |= {f"man/{page}": (content, 0o644) for page, content in made.manual.items()}
    files |= {f"completions/{shell}/{release.COMPLETIONS[shell]}": (content, 0o644) for shell, content in made.completions.items()}
    files |= {path.rsplit("/")[-1]: (made.text(path), 0o644) for path in ("LICENSE", "README.md", "CHANGELOG.md", "deploy/quire.service")}
    packed = archive.tar({f"{folder}/{path}": file for path, file in files.items()}, made.epoch)
    target = made.out / name(made)
    target.write_bytes(made.compressed(packed))
    return [target]


def name(made):
    return f"quire-{made.version}-{made.machine['rust']}-linux.tar.gz"

"""The Homebrew formula: it installs the tarball of the same release."""

import hashlib
import pathlib

import tarball

TEMPLATE = pathlib.Path(__file__).parent / "homebrew" / "quire.rb"


def build(made):
    archive = made.out / tarball.name(made)
    if not archive.exists():
        tarball.build(made)
    values = {
        "version": made.version,
        "base_url": made.base_url,
        "url": f"{made.base_url}/{archive.name}",
        "sha256": hashlib.sha256(archive.read_bytes()).hexdigest(),
        "machine": made.machine["homebrew"],
    }
    text = TEMPLATE.read_text()
    for name, value in values.items():
        text = text.replace(f"@{name}@", value)
    target = made.out / "quire.rb"
    target.write_text(text)
    return [target]

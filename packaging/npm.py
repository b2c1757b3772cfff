"""The npm package `quire-server`: `npm install -g quire-server` puts `quire` on the PATH.

npm links the name to the executable itself, so no Node process stands between the shell and the program."""

import json

import archive
import release


def build(made):
    described = {
        "name": "quire-server",
        "version": made.version,
        "description": release.SUMMARY,
        "license": "Apache-2.0",
        "bin": {"quire": "bin/quire"},
        "os": ["linux"],
        "cpu": [made.machine["node"]],
        "files": ["bin", "LICENSE", "README.md"],
    }
    if not made.executable.static:
        described["libc"] = ["glibc"]
    files = {
        "package/package.json": (json.dumps(described, indent=2).encode() + b"\n", 0o644),
        "package/bin/quire": (made.binary(), 0o755),
        "package/README.md": (made.text("packaging/registry.md"), 0o644),
        "package/LICENSE": (made.text("LICENSE"), 0o644),
    }
    target = made.out / f"quire-server-{made.version}.tgz"
    target.write_bytes(made.compressed(archive.tar(files, made.epoch)))
    return [target]

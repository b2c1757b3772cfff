"""Makes the packages of a release from one executable. Standard library only.

    python3 packaging/build.py --binary target/static/quire --out dist              all of them
    python3 packaging/build.py --binary target/debug/quire --out dist deb wheel     some

packaging/README.md says how a release is made. The same executable and commit give the same files, byte for byte."""

import argparse
import hashlib
import pathlib
import sys

import brew
import deb
import npm
import oci
import release
import sbom
import tarball
import wheel

FORMATS = {"tar": tarball, "deb": deb, "wheel": wheel, "npm": npm, "oci": oci, "brew": brew, "sbom": sbom}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", type=pathlib.Path, required=True, help="the executable to package; strip it first")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the packages")
    parser.add_argument("--version", help="default: the version in Cargo.toml")
    parser.add_argument("--base-url", help="where the tarball can be downloaded, for the Homebrew formula; default: --out itself")
    parser.add_argument("--compression", type=int, default=9, choices=range(10), metavar="0-9", help="0 is quick, 9 (the default) is small")
    parser.add_argument("--rootfs", default="auto", help="what the container image stands on: debian (made by mmdebstrap), libraries (only what "
                        "the program needs), a tar file, or auto: debian where mmdebstrap is installed")
    parser.add_argument("formats", nargs="*", metavar="FORMAT", help=f"{', '.join(FORMATS)}; default: all")
    chosen = parser.parse_args()
    if unknown := set(chosen.formats) - set(FORMATS):
        parser.error(f"{', '.join(sorted(unknown))}: no such package; there are {', '.join(FORMATS)}")
    return chosen


def main():
    chosen = arguments()
    out = chosen.out.absolute()
    made = release.prepare(chosen.binary.absolute(), chosen.version, out, chosen.base_url or out.as_uri(), chosen.compression, chosen.rootfs)
    for name in chosen.formats or FORMATS:
        for file in FORMATS[name].build(made):
            print(f"{name:6} {file.stat().st_size / 1e6:8.1f} MB  {file.name}")
            sys.stdout.flush()
    write_checksums(out)


def write_checksums(out):
    """SHA256SUMS over everything in the folder, as `sha256sum --check` reads it."""
    files = sorted(file for file in out.iterdir() if file.is_file() and file.name != "SHA256SUMS")
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (out / "SHA256SUMS").write_text("".join(lines))


if __name__ == "__main__":
    main()

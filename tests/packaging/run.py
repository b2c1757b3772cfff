"""Builds every package from one executable, installs each, and has it serve until it answers `/check` with a key; one of them by quickstart.

    python3 tests/packaging/run.py              needs target/debug/quire (or QUIRE_BINARY); about a minute
    python3 tests/packaging/run.py deb oci      only these
    python3 tests/packaging/run.py --debian     first makes a fresh Debian with mmdebstrap (minutes, network), which later runs use too

With a Debian (target/packaging/debian.tar, or QUIRE_ROOTFS) packages are installed in a fresh copy of it, without Rust and
without anything of this machine; else on this machine, in folders of their own. What a machine cannot do is skipped with the reason."""

import filecmp
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import ssl
import subprocess
import sys
import tempfile
import threading
import time

import image
import places

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "target" / "packaging"
BINARY = pathlib.Path(os.environ.get("QUIRE_BINARY", ROOT / "target" / "debug" / "quire")).absolute()
ROOTFS = pathlib.Path(os.environ.get("QUIRE_ROOTFS", FOLDER / "debian.tar"))
# What the packages' own installers need.
DEBIAN = "adduser,ca-certificates,python3-venv,npm"
# Separates "serves" from "hangs" on a machine that is busy with other things.
PATIENCE_S = 300


class Skipped(Exception):
    """Why a package cannot be tried here."""


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    if "--debian" in sys.argv:
        subprocess.run(["mmdebstrap", "--variant=minbase", f"--include={DEBIAN}", "trixie", ROOTFS], check=True)
    failed = []
    with tempfile.TemporaryDirectory(prefix="quire-packaging-") as scratch:
        scratch = pathlib.Path(scratch)
        dist = built(scratch)
        trials = {"sums": sums, "sbom": sbom, "tar": tarball, "deb": deb, "wheel": wheel, "npm": npm, "oci": oci, "brew": brew}
        chosen = [name for name in sys.argv[1:] if name in trials] or trials
        for name in chosen:
            try:
                print(f"{name:6} {trials[name](dist, scratch / name)}", flush=True)
            except Skipped as reason:
                print(f"{name:6} skipped: {reason}", flush=True)
            except Exception as error:
                said = getattr(error, "stderr", None) or ""
                print(f"{name:6} FAILED: {error} {said}", flush=True)
                failed.append(name)
    if failed:
        raise SystemExit(f"packaging: {', '.join(failed)} failed")


def built(scratch):
    """All packages. Those that each have a writer of their own are made twice: the second time must give the same bytes."""
    binary = scratch / "quire"
    # Without what a debugger needs a debug build is a third as large.
    if not shutil.which("strip") or subprocess.run(["strip", "-o", binary, BINARY]).returncode:
        shutil.copy(BINARY, binary)
    started = time.monotonic()
    rootfs = ROOTFS if ROOTFS.exists() else "libraries"
    command = [sys.executable, ROOT / "packaging" / "build.py", "--binary", binary, "--compression", "0", "--rootfs", rootfs]
    formats = [name for name, tool in {"tar": None, "deb": "dpkg-deb", "wheel": None, "npm": None, "oci": None, "brew": None, "sbom": "cargo"}.items()
               if not tool or shutil.which(tool)]
    where = ["--base-url", "https://example.org/quire/{version}", "--out"]
    subprocess.run([*command, *where, scratch / "dist", *formats], check=True, stdout=subprocess.DEVNULL)
    twice = [name for name in formats if name in ("tar", "deb", "wheel")]
    subprocess.run([*command, *where, scratch / "again", *twice], check=True, stdout=subprocess.DEVNULL)
    names = sorted(file.name for file in (scratch / "again").iterdir() if file.name != "SHA256SUMS")
    _, differing, missing = filecmp.cmpfiles(scratch / "dist", scratch / "again", names, shallow=False)
    if differing or missing:
        raise SystemExit(f"packaging: two builds differ: {', '.join(differing + missing)}")
    shutil.rmtree(scratch / "again")
    print(f"built  in {time.monotonic() - started:.1f} s; {', '.join(twice)} again, the same byte for byte", flush=True)
    return scratch / "dist"


def sums(dist, _):
    lines = [line.split("  ") for line in (dist / "SHA256SUMS").read_text().splitlines()]
    assert {name for _, name in lines} == {file.name for file in dist.iterdir()} - {"SHA256SUMS"}, "files without a checksum"
    for digest, name in lines:
        assert hashlib.sha256((dist / name).read_bytes()).hexdigest() == digest, f"the checksum of {name} is wrong"
    return f"{len(lines)} checksums are right"


def sbom(dist, _):
    document = json.loads(one(dist, "*.cdx.json", "cargo is not installed").read_text())
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    assert re.fullmatch(r"urn:uuid:[0-9a-f-]{36}", document["serialNumber"])
    parts = document["components"]
    named = [part["bom-ref"] for part in parts] + [document["metadata"]["component"]["bom-ref"]]
    assert len(set(named)) == len(named), "two components have one name"
    used = {name for entry in document["dependencies"] for name in (entry["ref"], *entry["dependsOn"])}
    assert used <= set(named), f"dependencies that are not listed: {used - set(named)}"
    ours = {"engine", "models", "parsers", "recognition", "stores"}
    for part in parts:
        assert part["type"] in ("library", "machine-learning-model") and part["name"] and part["licenses"][0]["expression"], part
        assert part["name"] in ours or re.fullmatch("[0-9a-f]{64}", part["hashes"][0]["content"]), part
    kinds = [part["type"] for part in parts]
    return f"{kinds.count('library')} crates and {kinds.count('machine-learning-model')} models, each with licence and checksum"


def tarball(dist, folder):
    place = somewhere(folder)
    with installing() as spent:
        package = place.inside(one(dist, "*-linux.tar.gz"))
        run(place, "tar", "-xzf", package, "-C", place.folder)
    [top] = place.outside(place.folder).glob("quire-*-linux")
    complete(top, ["LICENSE", "man/quire.1", "completions/bash/quire", "completions/zsh/_quire", "completions/fish/quire.fish"])
    seconds = quickstarts(place, [place.folder / top.name / "bin/quire"], place.folder / "data")
    return report(spent, seconds, f"unpacked {place.name}, by quickstart")


def deb(dist, folder):
    package = one(dist, "*.deb", "dpkg-deb is not installed")
    linted = lint(package)
    place = somewhere(folder)
    if isinstance(place, places.Host):
        # Without a root file system of its own the package must not touch this machine: files only, no user, no service.
        with installing() as spent:
            subprocess.run(["dpkg-deb", "--extract", package, folder], check=True)
        program, user, data, how = folder, None, folder / "data", "files only, scripts not run"
    else:
        with installing() as spent:
            run(place, "dpkg", "--install", place.inside(package))
        program, user, data, how = pathlib.Path("/"), "quire", "/var/lib/quire", "dpkg --install, served by its user"
        assert place.outside(data).stat().st_mode & 0o777 == 0o700, "others may read the data folder"
    complete(place.outside(program), ["usr/lib/systemd/system/quire.service", "usr/share/man/man1/quire.1.gz",
                                      "usr/share/bash-completion/completions/quire", "usr/share/doc/quire/copyright"])
    seconds = serves(place, [program / "usr/bin/quire", "--config", program / "etc/quire/quire.toml"], data, user)
    if user:
        run(place, "dpkg", "--purge", "quire")
        assert place.outside(data).joinpath("catalog.db").exists(), "removing the package removed documents"
        assert not place.outside("/usr/bin/quire").exists() and not place.outside("/etc/quire/quire.toml").exists()
    return report(spent, seconds, f"{how}, {place.name}; {linted}")


def lint(package):
    """What Debian's own checker says of the package; anything but what packaging/debian/lintian-overrides explains is a failure."""
    if not shutil.which("lintian"):
        return "lintian is not installed"
    # The package under test is not compressed, to be made quickly; a release's is.
    quick = "uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball"
    done = subprocess.run(["lintian", "--fail-on", "error,warning", "--suppress-tags", quick, package], capture_output=True, text=True)
    assert done.returncode == 0, f"lintian: {done.stdout}{done.stderr}"
    return "lintian has no objection"


def wheel(dist, folder):
    place = somewhere(folder, "python3")
    environment = place.folder / "venv"
    made = subprocess.run(place.command(["python3", "-m", "venv", environment]), env=place.environment(), capture_output=True)
    if made.returncode:
        raise Skipped("python3 -m venv does not work here (on Debian: python3-venv)")
    with installing() as spent:
        package = place.inside(one(dist, "*.whl"))
        run(place, environment / "bin/pip", "install", "--quiet", "--no-index", "--disable-pip-version-check", package)
    version = run(place, environment / "bin/python", "-m", "quire_server", "--version")
    assert version.startswith("quire "), version
    return report(spent, serves(place, [environment / "bin/quire"], place.folder / "data"), f"pip in a venv {place.name}")


def npm(dist, folder):
    place = somewhere(folder, "npm")
    if not place.has("npm"):
        raise Skipped("npm is not installed")
    with installing() as spent:
        package = place.inside(one(dist, "*.tgz"))
        run(place, "npm", "install", "--offline", "--no-audit", "--no-fund", "--loglevel=error", "--prefix", place.folder, package)
    return report(spent, serves(place, [place.folder / "node_modules/.bin/quire"], place.folder / "data"), f"npm {place.name}")


def oci(dist, folder):
    if reason := places.chroot_works():
        raise Skipped(reason)
    place = places.Chroot(folder)
    with installing() as spent:
        config = image.unpack(one(dist, "*.oci.tar"), place, folder.parent / "layer.tar")
    assert config["Cmd"] == ["serve"] and "/data" in config["Volumes"] and "8443/tcp" in config["ExposedPorts"]
    place.settings |= {"QUIRE__HTTP__METRICS_LISTEN": ""}
    return report(spent, serves(place, config["Entrypoint"], "/data", config["User"].split(":")[0]), "unpacked, its user in a chroot; all digests right")


def brew(dist, folder):
    if not shutil.which("ruby"):
        raise Skipped("neither Homebrew nor ruby is installed, so the formula was not read")
    formula, package = one(dist, "quire.rb"), one(dist, "*-linux.tar.gz")
    place = somewhere(folder)
    prefix = place.outside(place.folder) / "prefix"
    with tempfile.TemporaryDirectory() as unpacked, installing() as spent:
        subprocess.run(["ruby", "-c", formula], check=True, stdout=subprocess.DEVNULL)
        subprocess.run(["tar", "-xzf", package, "-C", unpacked], check=True)
        line = ["ruby", "-W0", pathlib.Path(__file__).parent / "formula.rb", formula, f"{unpacked}/{package.name.removesuffix('.tar.gz')}", prefix]
        told = json.loads(subprocess.run(line, check=True, capture_output=True, text=True).stdout)
    assert told["url"].endswith(f"/{package.name}") and told["sha256"] == hashlib.sha256(package.read_bytes()).hexdigest()
    assert told["service"]["run"][:2] == [str(prefix / "bin/quire"), "serve"] and told["tested"] > 0, told
    seconds = serves(place, [place.folder / "prefix/bin/quire"], place.folder / "data")
    return report(spent, seconds, f"the formula's install, test and service blocks with a stand-in for Homebrew, {place.name}")


def somewhere(folder, program=None):
    """A fresh Debian where there is one that has the program, else this machine."""
    if ROOTFS.exists() and not places.chroot_works():
        place = places.Chroot(folder)
        place.unpack(ROOTFS)
        if not program or place.has(program):
            return place
        folder = folder.with_name(f"{folder.name}-host")
    return places.Host(folder)


def serves(place, program, data, user=None):
    """Starts the program on a free port and asks `/check` with a key that it made; how many seconds that took."""
    started = time.monotonic()
    command = lambda *line: place.command([*program, *line, "--data", data], user)
    # Not by quickstart: it reads the sample documents first, slowly where the program is a debug build.
    say = lambda *line: json.loads(subprocess.run(command(*line, "--json"), env=place.environment(), check=True, capture_output=True, text=True).stdout)
    say("user", "add", "you@example.org")
    key = say("key", "add", "--user", "you@example.org")["key"]
    check(place, command("serve", "--listen", "127.0.0.1:0"), data, r"https://127\.0\.0\.1:(?P<port>\d+)", key)
    return time.monotonic() - started


def quickstarts(place, program, data):
    """The same with the line that people try first, and with the key that it shows."""
    started = time.monotonic()
    line = place.command([*program, "quickstart", "--data", data, "--listen", "127.0.0.1:0"])
    check(place, line, data, r"Authorization: Bearer (?P<key>quire_\w+)' https://127\.0\.0\.1:(?P<port>\d+)")
    return time.monotonic() - started


def check(place, line, data, shown, key=None):
    """Runs a server until it shows its port, and a key where none is given; asks `/check` there, and ends it."""
    # The smaller model, which loads faster.
    environment = {**place.environment(), "QUIRE__MODELS__EMBEDDER": "quire-embed-1"}
    server = subprocess.Popen(line, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    # With all its children: a process in a chroot outlives the command that entered it.
    end = lambda: os.killpg(server.pid, signal.SIGKILL)
    impatience = threading.Timer(PATIENCE_S, end)
    impatience.start()
    try:
        said, found = "", None
        while not found and (heard := server.stdout.readline()):
            said += heard
            found = re.search(shown, said)
        if not found:
            raise RuntimeError(f"it did not start:\n{said}")
        context = ssl.create_default_context(cafile=place.outside(data) / "tls" / "cert.pem")
        connection = http.client.HTTPSConnection("127.0.0.1", int(found["port"]), context=context, timeout=60)
        connection.request("GET", "/api/public/v1/check", headers={"Authorization": f"Bearer {key or found['key']}"})
        answer = connection.getresponse()
        body = answer.read()
        assert answer.status == 200, f"/check answered {answer.status}: {body}"
    finally:
        impatience.cancel()
        end()
        server.communicate()


class installing:
    """Counts the seconds of a block: `with installing() as spent: …`, then `spent[0]`."""

    def __enter__(self):
        self.started, self.spent = time.monotonic(), []
        return self.spent

    def __exit__(self, *_):
        self.spent.append(time.monotonic() - self.started)


def report(spent, seconds, how):
    return f"installed in {spent[0]:.1f} s, answered /check after {seconds:.1f} s ({how})"


def run(place, *line):
    done = subprocess.run(place.command(line), env=place.environment(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, line))}: {done.stdout}{done.stderr}")
    return done.stdout


def one(dist, pattern, otherwise="it was not built"):
    found = list(dist.glob(pattern))
    if not found:
        raise Skipped(otherwise)
    [file] = found
    return file


def complete(folder, names):
    absent = [name for name in names if not (folder / name).is_file()]
    assert not absent, f"{', '.join(absent)} missing"


if __name__ == "__main__":
    main()

"""Runs the dashboard's tests in Debian's Chromium against a real quire server.

    python3 tests/dashboard/run.py                  all tests on a light desktop; what people do most on a dark phone
    python3 tests/dashboard/run.py --every-look     all tests on both, and on a dark desktop and a light phone
    python3 tests/dashboard/run.py --screenshots    writes docs/screenshots instead
    python3 tests/dashboard/run.py -- -g members    whatever follows goes to Playwright

All tests are split in two halves that run at the same time, each on a server of its own: browsers and servers wait for each other most of
the time. Needs target/debug/quire (or QUIRE_BINARY), node, npm and chromium. Packages are installed into target/dashboard."""

import concurrent.futures
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "debug" / "quire"))
from service import Server

FOLDER = ROOT / "target" / "dashboard"


def install():
    FOLDER.mkdir(parents=True, exist_ok=True)
    shutil.copy(HERE / "package.json", FOLDER)
    environment = dict(os.environ, PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD="1")
    line = ["npm", "install", "--no-audit", "--no-fund", "--loglevel=error"]
    subprocess.run(line, cwd=FOLDER, env=environment, check=True)
    for script in HERE.glob("*.mjs"):
        shutil.copy(script, FOLDER)


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def start(screenshots, name):
    """A server nobody has an account on, the link to set it up, and the provider to sign in with."""
    port = free_port()
    server = Server(env={
        "QUIRE__OIDC__ISSUER": f"http://127.0.0.1:{port}", "QUIRE__OIDC__CLIENT_ID": "quire",
        "QUIRE__OIDC__CLIENT_SECRET": "a secret, told nobody: +/=", "QUIRE__OIDC__LABEL": "the test provider",
        "QUIRE__OIDC__CREATE_ACCOUNTS": "true", "QUIRE__UNITS__MONTHLY": "1000", "QUIRE__LIMITS__FILE_MB": "200" if screenshots else "2"})
    redirect = f"https://127.0.0.1:{server.port}/sign-in/oidc/callback"
    log = open(FOLDER / f"provider-{name}.log", "w")
    provider = subprocess.Popen(["node", "provider.mjs", str(port), redirect], cwd=FOLDER, stdout=subprocess.PIPE, stderr=log)
    if b"ready" not in provider.stdout.readline():
        raise SystemExit(f"the provider did not start: see {log.name}")
    server.start()
    link = server.process.stdout.readline().decode().split(": ", 1)[1].strip()
    return server, provider, link


def walk(browser, arguments, further, name="whole", said=None):
    """Runs Playwright against a server of its own; whether all tests passed."""
    screenshots = "--screenshots" in arguments
    server, provider, link = start(screenshots, name)
    try:
        environment = dict(
            os.environ, QUIRE_ADDRESS=f"https://127.0.0.1:{server.port}", QUIRE_SET_UP=link, CHROMIUM=browser,
            QUIRE_SAMPLES=str(HERE / "samples"), QUIRE_SCREENSHOTS=str(ROOT / "docs" / "screenshots") if screenshots else "",
            QUIRE_EVERY_LOOK="yes" if "--every-look" in arguments else "", QUIRE_RESULTS=f"results-{name}")
        line = ["npx", "playwright", "test", "--config", "playwright.config.mjs", *further]
        return subprocess.run(line, cwd=FOLDER, env=environment, stdout=said, stderr=said).returncode == 0
    finally:
        server.stop()
        provider.terminate()


def walk_in_halves(browser, arguments):
    """The same in two halves at the same time; what each said is printed when both have ended."""
    with concurrent.futures.ThreadPoolExecutor() as threads, tempfile.TemporaryFile("w+") as first, tempfile.TemporaryFile("w+") as second:
        halves = [threads.submit(walk, browser, arguments, [f"--shard={half}/2"], f"half-{half}", said)
                  for half, said in enumerate((first, second), 1)]
        passed = [half.result() for half in halves]
        for said in (first, second):
            said.seek(0)
            print(said.read(), flush=True)
    return all(passed)


def main():
    arguments = sys.argv[1:]
    further = arguments[arguments.index("--") + 1:] if "--" in arguments else []
    for needed in ("node", "npm"):
        if not shutil.which(needed):
            raise SystemExit(f"{needed} is needed for the dashboard's tests")
    browser = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if not browser:
        raise SystemExit("chromium is needed for the dashboard's tests (Debian: apt-get install chromium)")
    install()
    whole = further or "--screenshots" in arguments
    sys.exit(not (walk(browser, arguments, further) if whole else walk_in_halves(browser, arguments)))


if __name__ == "__main__":
    main()

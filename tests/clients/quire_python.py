"""quire-sdk, built from sdk/python and installed as a package: both clients, and the sample of its README."""

import asyncio
import os
import pathlib
import re
import tempfile

from checks import ANSWER, QUESTION, Places, check, raises
from quire import AsyncQuire, Quire, QuireError

places = Places()
CERTIFICATE = os.environ["SSL_CERT_FILE"]


def client(place, kind=Quire, **more):
    return kind(place.base, place.key, ca=CERTIFICATE, **more)


quire = client(places.manager)
check("check", quire.check()["message"] == "ok")
box = quire.create_box("SDK")
check("boxes", box.id in [known.id for known in quire.boxes()])

with tempfile.TemporaryDirectory() as folder:
    path = pathlib.Path(folder) / "machine.md"
    path.write_text(f"# Warranty\n\nThe warranty of the machine lasts {ANSWER}.\n")
    file = quire.upload(box.id, path, tags=["manual"], metadata={"year": 2026}, external_id="m")
again = quire.upload(box.id, b"# Repairs\n\nRepairs take three weeks.\n", name="repairs.md")
check("upload and wait", quire.wait(file.id).status == "ready" and quire.wait(again.id).status == "ready")
check("files of all pages", sorted(one.name for one in quire.files(box.id, limit=1)) == ["machine.md", "repairs.md"])
check("change", quire.change_file(file.id, externalId="n").external_id == "n")

result = quire.search(box.id, QUESTION, top_k=1, filter={"year": 2026})
check("search", ANSWER in result.hits[0].text and result.usage.consumed >= 1 and result.hits[0].file_id == file.id)
check("search in several boxes", ANSWER in quire.search([box.id, places.box], QUESTION).hits[0].text)
check("documents", ANSWER in quire.documents(box.id, [file.id], pages="1")[0].pages[0].text)
answer = quire.ask(box.id, QUESTION)
check("ask", ANSWER in answer.text and ANSWER in answer.citations[0].quote)
check("stream", ANSWER in "".join(quire.stream(box.id, QUESTION)))
quire.rate(answer.id, -1, "It is three years now.")
check("feedback", [one.comment for one in quire.questions(box.id, outcome="disliked")] == ["It is three years now."])

check("wrong key", raises(lambda: client(places.wrong_key).check(), QuireError, lambda e: e.status == 401 and e.request_id))
check("quota exhausted", raises(lambda: client(places.exhausted).search(places.box, QUESTION), QuireError,
                                lambda e: e.status == 402 and e.reason == "units_exhausted"))
limited = client(places.limited)
check("rate limited, recovers", all(limited.check() for _ in range(5)))
check("unreachable", raises(lambda: Quire("https://127.0.0.1:9", "x", ca=CERTIFICATE, max_retries=0).check(), QuireError,
                            lambda e: e.status == 0))
breaking = client(places.breaking)
check("mid-stream failure raises", raises(lambda: list(breaking.stream(places.breaking.box, QUESTION)), QuireError))
check("plain HTTP is not tried", raises(lambda: Quire("http://127.0.0.1", "x"), ValueError))
check("with_ca", Quire(places.manager.base, places.manager.key).with_ca(CERTIFICATE).check()["message"] == "ok")


async def asynchronous():
    async with client(places.manager, AsyncQuire) as quire:
        found, answer = await asyncio.gather(quire.search(box.id, QUESTION), quire.ask(box.id, QUESTION))
        check("asynchronous search and ask", ANSWER in found.hits[0].text and ANSWER in answer.text)
        check("asynchronous stream", ANSWER in "".join([piece async for piece in quire.stream(box.id, QUESTION)]))
        check("asynchronous pages", len([one async for one in quire.files(box.id, limit=1)]) == 2)
        try:
            await quire.file("fil_" + "0" * 32)
            check("asynchronous errors", False)
        except QuireError as error:
            check("asynchronous errors", error.status == 404)


asyncio.run(asynchronous())
check("delete", quire.delete_file(again.id).removed["originals"] == 1)
quire.delete_box(box.id)

readme = (pathlib.Path(__file__).resolve().parents[2] / "sdk" / "python" / "README.md").read_text()
sample = re.search(r"```python\n(.*?)```", readme, re.S)[1]
os.environ.update(QUIRE_URL=places.manager.base, QUIRE_API_KEY=places.manager.key, QUIRE_CA=CERTIFICATE)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    pathlib.Path("warranty.md").write_text("# Warranty\n\nThe warranty of the kettle lasts two years.\n")
    exec(compile(sample, "README.md", "exec"), {})
    os.chdir("/")
check("the README's sample", True)

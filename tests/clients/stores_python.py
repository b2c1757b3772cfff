"""The openai package's files, vector stores and responses, with the helpers that wait."""

import io

import openai

from checks import ANSWER, QUESTION, Places, check, raises

places = Places()
root = places.plain.base.removesuffix("/api/public/v1")
api = openai.OpenAI(base_url=f"{root}/openai/v1", api_key=places.manager.key)
TEXT = "# Warranty\n\nThe warranty of the machine lasts two years from the day of purchase.\n"


def named(name, text=TEXT):
    return (name, io.BytesIO(text.encode()))


file = api.files.create(file=named("warranty.md"), purpose="assistants")
check("upload", file.status == "processed" and file.bytes == len(TEXT) and file.expires_at > file.created_at)
check("retrieve and list", api.files.retrieve(file.id).filename == "warranty.md" and file.id in [f.id for f in api.files.list()])
check("content", api.files.content(file.id).read().decode() == TEXT)
check("waiting for processing", api.files.wait_for_processing(file.id).id == file.id)

store = api.vector_stores.create(name="Manuals", metadata={"team": "support"})
check("create store", store.name == "Manuals" and store.metadata == {"team": "support"})
done = api.vector_stores.files.create_and_poll(file.id, vector_store_id=store.id, attributes={"year": 2021})
check("create and poll", done.status == "completed" and done.id == file.id and done.attributes == {"year": 2021})
done = api.vector_stores.files.upload_and_poll(vector_store_id=store.id, file=named("boats.md", "# Boats\n\nThe boat is blue.\n"))
check("upload and poll", done.status == "completed")
batch = api.vector_stores.file_batches.upload_and_poll(
    store.id, files=[named("a.md", "# A\n\nApples are red.\n"), named("b.md", "# B\n\nPears are green.\n")])
check("upload batch and poll", batch.status == "completed" and batch.file_counts.completed == 2)
check("files of a batch", len(list(api.vector_stores.file_batches.list_files(batch.id, vector_store_id=store.id))) == 2)
check("store counts", api.vector_stores.retrieve(store.id).file_counts.completed == 4)
listed = list(api.vector_stores.files.list(store.id, limit=1))
check("paging through files", len(listed) == 4 and file.id in [f.id for f in listed])
check("text of a file", ANSWER in api.vector_stores.files.content(file.id, vector_store_id=store.id).data[0].text)

found = list(api.vector_stores.search(store.id, query=QUESTION, max_num_results=3))
check("search", found[0].file_id == file.id and ANSWER in found[0].content[0].text)
year = {"type": "and", "filters": [{"type": "gte", "key": "year", "value": 2022}]}
check("search with filters", list(api.vector_stores.search(store.id, query=QUESTION, filters=year)) == [])

tool = {"type": "file_search", "vector_store_ids": [store.id]}
answer = api.responses.create(model="quire", input=QUESTION, tools=[tool], include=["file_search_call.results"])
call, message = answer.output
check("response", ANSWER in answer.output_text and answer.status == "completed")
check("file search call", call.type == "file_search_call" and call.results[0].file_id == file.id)
citation = message.content[0].annotations[0]
check("file citation", citation.type == "file_citation" and citation.file_id == file.id and citation.filename == "warranty.md")
with api.responses.stream(model="quire", input=[{"role": "user", "content": QUESTION}], tools=[tool]) as stream:
    kinds = [event.type for event in stream]
    final = stream.get_final_response()
check("streamed response", "response.output_text.delta" in kinds and kinds[-1] == "response.completed" and ANSWER in final.output_text)
answer = api.chat.completions.create(model=store.id, messages=[{"role": "user", "content": QUESTION}])
check("chat with a store", ANSWER in answer.choices[0].message.content)

vectors = api.embeddings.create(model="quire", input=["one", "two"])
check("embeddings", len(vectors.data) == 2 and abs(sum(x * x for x in vectors.data[0].embedding) - 1) < 1e-3)

renamed = api.vector_stores.update(store.id, name="Handbooks")
check("rename", renamed.name == "Handbooks" and store.id in [s.id for s in api.vector_stores.list()])
changed = api.vector_stores.files.update(file.id, vector_store_id=store.id, attributes={"team": "hr"})
check("attributes", changed.attributes == {"team": "hr"})
check("detach", api.vector_stores.files.delete(file.id, vector_store_id=store.id).deleted)
check("gone from the store", raises(lambda: api.vector_stores.files.retrieve(file.id, vector_store_id=store.id), openai.NotFoundError))
check("delete", api.files.delete(file.id).deleted and api.vector_stores.delete(store.id).deleted)
check("gone", raises(lambda: api.files.retrieve(file.id), openai.NotFoundError)
      and raises(lambda: api.vector_stores.retrieve(store.id), openai.PermissionDeniedError))
usual = openai.OpenAI(base_url=api.base_url, api_key=places.plain.key)
check("a usual key makes no stores", raises(lambda: usual.vector_stores.create(name="x"), openai.PermissionDeniedError))
check("wrong key", raises(lambda: openai.OpenAI(base_url=api.base_url, api_key=places.wrong_key.key).files.list(), openai.AuthenticationError))

"""Hooks for schemathesis: most requests name boxes and files that exist, so that they reach what is behind the 404."""

import os
import random

import schemathesis

BOXES = os.environ["QUIRE_KNOWN_BOXES"].split(",")
FILES = os.environ["QUIRE_KNOWN_FILES"].split(",")
# Half of the files may be deleted by a run, so that the others are there to its end.
KEPT, LOST = FILES[: len(FILES) // 2], FILES[len(FILES) // 2:]


def known(context, name):
    if name == "box_id":
        return random.choice(BOXES)
    return random.choice(LOST if context.operation.method.upper() == "DELETE" else KEPT)


@schemathesis.hook
def map_path_parameters(context, path_parameters):
    for name in path_parameters or {}:
        if name in ("box_id", "file_id") and random.random() < 0.7:
            path_parameters[name] = known(context, name)
    return path_parameters


@schemathesis.hook
def map_query(context, query):
    for name in query or {}:
        if name in ("box_id", "file_id") and random.random() < 0.7:
            query[name] = known(context, name)
    return query


@schemathesis.hook
def map_headers(context, headers):
    for name in headers or {}:
        if name.lower() == "x-box-id" and random.random() < 0.7:
            headers[name] = random.choice(BOXES)
    return headers


@schemathesis.hook
def map_body(context, body):
    """Sources that exist, in the bodies that name some."""
    if isinstance(body, dict) and isinstance(body.get("sources"), list) and random.random() < 0.5:
        body["sources"] = [random.choice(KEPT) for _ in body["sources"][:5]]
    if isinstance(body, dict) and "file_id" in body and random.random() < 0.5:
        body["file_id"] = random.choice(KEPT)
    return body

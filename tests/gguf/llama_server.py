"""llama.cpp's server under its usual options: the real one, as the xllamacpp package carries it."""

import argparse
import os
import threading

import xllamacpp

options = argparse.ArgumentParser()
for name in ("--model", "--host"):
    options.add_argument(name, required=True)
for name in ("--port", "--ctx-size"):
    options.add_argument(name, type=int, required=True)
given = options.parse_args()

settings = xllamacpp.CommonParams()
settings.model.path = given.model
settings.hostnames, settings.port, settings.n_ctx = [given.host], given.port, given.ctx_size
settings.api_keys = [os.environ["LLAMA_API_KEY"]]
settings.n_parallel = 1
server = xllamacpp.Server(settings)
threading.Event().wait()

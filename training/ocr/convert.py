#!/usr/bin/env python3
"""Turns the ONNX files of PP-OCRv6 small into the weights that quire ships: half-precision floats in the order of the layers.

    pip download --no-deps rapidocr==3.10.0 && unzip rapidocr-3.10.0-*.whl 'rapidocr/models/*'
    pip install onnx numpy
    training/ocr/convert.py rapidocr/models models/pp-ocrv6-small

Nothing is trained. Biases and normalisations are folded into the layers before them, windows lie place by place with their
channels side by side, and the first layer takes one grey channel in place of three equal ones.
"""
import pathlib, sys

import numpy as np, onnx
from onnx import numpy_helper


def convert(path):
    graph = onnx.load(path).graph
    known = {i.name: numpy_helper.to_array(i).astype(np.float32) for i in graph.initializer}
    same = {}
    for node in graph.node:
        if node.op_type == "Constant":
            known[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
        if node.op_type == "Identity":
            same[node.output[0]] = node.input[0]

    def name(value):
        while value in same:
            value = same[value]
        return value

    readers = {}
    for node in graph.node:
        if node.op_type != "Identity":
            for value in node.input:
                readers.setdefault(name(value), []).append(node)

    def bias_after(node, width):
        """The factor and the bias that the next node brings."""
        following = [n for n in readers.get(name(node.output[0]), []) if n.op_type in ("Add", "BatchNormalization")]
        for after in following:
            weights = [known[name(v)] for v in after.input if name(v) in known]
            if after.op_type == "BatchNormalization":
                gain, bias, mean, variance = weights
                epsilon = next(a.f for a in after.attribute if a.name == "epsilon")
                factor = gain / np.sqrt(variance + epsilon)
                return factor, bias - mean * factor
            if weights and weights[0].size == width:
                return np.ones(width, np.float32), weights[0].reshape(-1)
        return np.ones(width, np.float32), np.zeros(width, np.float32)

    parts = []
    for node in graph.node:
        weights = [known[name(v)] for v in node.input if name(v) in known]
        if node.op_type == "Conv":
            matrix = weights[0]
            group = next((a.i for a in node.attribute if a.name == "group"), 1)
            factor, bias = bias_after(node, matrix.shape[0])
            matrix = matrix * factor[:, None, None, None]
            if group > 1:
                matrix = matrix[:, 0].transpose(1, 2, 0)
            else:
                if matrix.shape[1] == 3:
                    matrix = matrix.sum(axis=1, keepdims=True)
                matrix = matrix.transpose(0, 2, 3, 1)
            parts += [matrix, bias]
        elif node.op_type == "ConvTranspose":
            matrix = weights[0].transpose(2, 3, 1, 0)
            _, bias = bias_after(node, matrix.shape[2])
            parts += [matrix, np.tile(bias, 4)]
        elif node.op_type == "MatMul" and weights:
            _, bias = bias_after(node, weights[0].shape[1])
            parts += [weights[0].T, bias]
        elif node.op_type == "Mul" and weights and weights[0].ndim == 1 and weights[0].size > 1:
            _, bias = bias_after(node, weights[0].size)
            parts += [weights[0], bias]
    flat = np.concatenate([np.ascontiguousarray(part).reshape(-1) for part in parts])
    assert np.abs(flat).max() < 60000
    return flat.astype("<f2")


def main():
    source, target = map(pathlib.Path, sys.argv[1:])
    target.mkdir(exist_ok=True)
    for ours, theirs in (("detector", "det"), ("recogniser", "rec")):
        weights = convert(source / f"PP-OCRv6_{theirs}_small.onnx")
        (target / f"{ours}.f16").write_bytes(weights.tobytes())
        print(f"{ours}: {weights.size:,} weights, {weights.nbytes / 1e6:.1f} MB")
    model = onnx.load(source / "PP-OCRv6_rec_small.onnx")
    characters = next(p.value for p in model.metadata_props if p.key == "character").split("\n")
    while characters and not characters[-1]:
        characters.pop()
    (target / "characters.txt").write_text("\n".join(characters) + "\n")
    print(f"{len(characters):,} characters")


main()

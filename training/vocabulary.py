"""A unigram vocabulary: the file that the runtime reads (crates/models/src/tokens/unigram.rs says how it is laid out), and the
original tokenizer over the same pieces, to compare with."""
import re
import struct
import unicodedata

MAGIC = b"quire unigram 1\n"
SPACE = "▁"


def special(piece):
    return piece.startswith("<") and piece.endswith(">") and piece[1:-1] in ("s", "/s", "pad", "unk", "mask")


def write(path, package):
    """Pieces that a text can have, sorted; special ones are only known by their ids."""
    pieces = sorted((piece.encode(), at, score) for at, (piece, score) in enumerate(zip(package.pieces, package.scores))
                    if not special(piece))
    shared, rest, before = [], [], b""
    for piece, _, _ in pieces:
        same = 0
        while same < min(len(piece), len(before)) and piece[same] == before[same]:
            same += 1
        shared.append(same)
        rest.append(piece[same:])
        before = piece
    replaced = sorted((code, text.encode()) for code, text in package.replacements.items())
    sizes = (len(pieces), sum(map(len, rest)), len(replaced), sum(len(text) for _, text in replaced))
    with open(path, "wb") as file:
        file.write(MAGIC + struct.pack("<7I", *sizes, package.first, package.separator, package.unknown))
        file.write(bytes(shared) + bytes(map(len, rest)))
        file.write(struct.pack(f"<{len(pieces)}I", *(at for _, at, _ in pieces)))
        file.write(struct.pack(f"<{len(pieces)}f", *(score for _, _, score in pieces)))
        file.write(b"".join(rest))
        file.write(struct.pack(f"<{len(replaced)}I", *(code for code, _ in replaced)))
        file.write(bytes(len(text) for _, text in replaced) + b"".join(text for _, text in replaced))


def read(path):
    """Pieces by id, their logarithms, replacements, and the ids of the special tokens."""
    data = open(path, "rb").read()
    assert data.startswith(MAGIC)
    count, size, replaced, _, first, separator, unknown = struct.unpack_from("<7I", data, len(MAGIC))
    at = len(MAGIC) + 28

    def take(length):
        nonlocal at
        at += length
        return data[at - length:at]
    shared, more = take(count), take(count)
    ids, scores = struct.unpack(f"<{count}I", take(4 * count)), struct.unpack(f"<{count}f", take(4 * count))
    pieces, before = {}, b""
    for same, length, place, score in zip(shared, more, ids, scores):
        before = before[:same] + take(length)
        pieces[place] = (before.decode(), score)
    codes, lengths = struct.unpack(f"<{replaced}I", take(4 * replaced)), take(replaced)
    replacements = {code: take(length).decode() for code, length in zip(codes, lengths)}
    return pieces, replacements, (first, separator, unknown)


class Original:
    """`tokenizers`' own unigram model over these pieces, after our normal form."""

    def __init__(self, path):
        import tokenizers
        pieces, self.replacements, (self.first, self.separator, unknown) = read(path)
        # What has no piece is special: nobody can write it.
        listed = [pieces.get(at, (f"\uffff{at}", 0.0)) for at in range(max(pieces) + 1)]
        self.model = tokenizers.Tokenizer(tokenizers.models.Unigram(listed, unk_id=unknown, byte_fallback=False))
        self.model.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace(replacement=SPACE, prepend_scheme="always", split=True)

    def normal(self, text):
        text = unicodedata.normalize("NFC", text.replace(SPACE, " ").translate(self.replacements))
        return re.sub(" +", " ", text).strip(" ")

    def encode_batch(self, texts, add_special_tokens=False):
        """As `tokenizers` has it, of many texts; there are no special tokens."""
        return self.model.encode_batch([self.normal(text) for text in texts], add_special_tokens=False)

    def encode(self, text):
        """Ids without special tokens."""
        normal = self.normal(text)
        return self.model.encode(normal, add_special_tokens=False).ids if normal else []

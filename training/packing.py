"""Token vectors as crates/engine/src/search/late.rs packs them: tokens of the same word pooled, then the likest neighbours,
until at most 80 rows are left; signs and one scale a row."""
import numpy as np

MOST_ROWS = 80


def unit(rows):
    return rows / np.maximum(np.linalg.norm(rows, axis=-1, keepdims=True), 1e-12)


def pooled(tokens, ids, most=MOST_ROWS):
    """Rows of unit length."""
    _, first, which = np.unique(ids, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))
    rows = np.zeros((len(first), tokens.shape[1]), np.float32)
    np.add.at(rows, order[which], tokens)
    rows = unit(rows)
    while len(rows) > most:
        likeness = (rows[:-1] * rows[1:]).sum(1)
        gone, left = np.zeros(len(rows), bool), len(rows)
        for at in np.argsort(-likeness, kind="stable"):
            if left == most:
                break
            if gone[at] or gone[at + 1] or (at > 0 and gone[at - 1]):
                continue
            if not rows[at + 1].any() or not rows[at].any():
                continue
            rows[at] = unit(rows[at] + rows[at + 1])
            rows[at + 1] = 0
            gone[at + 1] = True
            left -= 1
        rows = rows[~gone]
    return rows


def packed(tokens, ids, most=MOST_ROWS, bits=1):
    """What packing leaves of a passage's rows."""
    rows = pooled(tokens, ids, most)
    if bits == 2:  # four levels, set by the row's own spread
        spread = np.abs(rows).mean(1, keepdims=True)
        steps = np.where(np.abs(rows) > spread * 1.2, 2.2, 0.6) * np.sign(rows) * spread
        return steps / np.maximum((steps * rows).sum(1, keepdims=True), 1e-9)
    return np.sign(rows) / np.maximum(np.abs(rows).sum(1, keepdims=True), 1.0)

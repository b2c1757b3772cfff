"""Archives that come out the same byte for byte: sorted entries, a fixed time, no trace of who made them."""

import io
import posixpath
import tarfile
import time
import zipfile


def tar(files, epoch, owners={}):
    """A tar of {path: (content, mode)}; a folder has None as its content. Missing parent folders are added.

    Everything belongs to root except the paths in `owners`, which name a user id."""
    entries = dict(files)
    for path in files:
        while path := posixpath.dirname(path):
            entries.setdefault(path, (None, 0o755))
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as written:
        for path in sorted(entries):
            content, mode = entries[path]
            entry = tarfile.TarInfo(path)
            entry.mode, entry.mtime = mode, epoch
            entry.uid = entry.gid = owners.get(path, 0)
            entry.type = tarfile.DIRTYPE if content is None else tarfile.REGTYPE
            entry.size = len(content or b"")
            written.addfile(entry, io.BytesIO(content or b""))
    return stream.getvalue()


def zip(files, epoch, compression):
    """A zip of {path: (content, mode)}, in the order given: a wheel's record comes last."""
    # A zip's clock begins in 1980.
    moment = max(time.gmtime(epoch)[:6], (1980, 1, 1, 0, 0, 0))
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as written:
        for path, (content, mode) in files.items():
            entry = zipfile.ZipInfo(path, moment)
            entry.external_attr = (0o100000 | mode) << 16
            written.writestr(entry, content, zipfile.ZIP_DEFLATED, compression)
    return stream.getvalue()

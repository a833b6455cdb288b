"""A file that is being read, and what was found wrong with it."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from pipeline.core.problems import Problem, SamepoolError, fault

_GZIP = b"\x1f\x8b"
_PARQUET = b"PAR1"  # how such files begin and end


@dataclass(frozen=True, slots=True)
class Source:
    """A file that is being read.

    Attributes:
        path: the file.
        problems: what is wrong with it, shared with the caller.
        grade_map: text of a grade -> number, for qrels.
    """

    path: Path
    problems: list[Problem]
    grade_map: Mapping[str, float] | None = None

    def error(self, code: str, text: str, fix: str = "", *, where: str | None = None) -> None:
        """Notes an error and reads on."""
        self.problems.append(Problem(code, "error", text, fix, str(self.path), where))

    def fault(
        self, code: str, text: str, fix: str = "", *, where: str | None = None
    ) -> SamepoolError:
        """The error to raise where reading on makes no sense."""
        return fault(code, text, fix, file=str(self.path), where=where)

    def is_gzip(self) -> bool:
        """Whether the content, not only the name, is gzip."""
        with self.path.open("rb") as stream:
            return stream.read(2) == _GZIP

    def data(self) -> pa.Buffer:
        """The bytes of a text file, unpacked, without a byte-order mark; plain files are mapped.

        Raises:
            SamepoolError: truncated or corrupt gzip; a Parquet file.
        """
        if self.is_gzip():
            found = pa.py_buffer(b"".join(_unpack(self)))
        elif self.path.stat().st_size:
            with pa.memory_map(str(self.path)) as mapped:
                found = mapped.read_buffer()
        else:
            found = pa.py_buffer(b"")
        ends = found.slice(0, min(4, found.size)), found.slice(max(0, found.size - 4))
        if found.size > len(_PARQUET) and all(bytes(end) == _PARQUET for end in ends):
            fix = "name the file .parquet, or set its format to parquet"
            raise self.fault("not_text", "the content is Parquet, not text", fix)
        marked = bytes(found.slice(0, min(3, found.size))) == b"\xef\xbb\xbf"
        return found.slice(3) if marked else found

    def head(self, size: int = 1 << 16) -> bytes:
        """The first bytes, unpacked."""
        with self.path.open("rb") as stream:
            raw = stream.read(size)
        if not raw.startswith(_GZIP):
            return raw
        try:
            return zlib.decompressobj(wbits=31).decompress(raw, size)
        except zlib.error as error:
            raise _corrupt(self, one_line(error)) from error


def one_line(error: BaseException) -> str:
    """What an exception says, on one line."""
    return " ".join(str(error).split())


def _corrupt(source: Source, why: str) -> SamepoolError:
    text = f"the gzip file is corrupt or cut short ({why})"
    return source.fault("corrupt_gzip", text, "copy or download it again")


def _unpack(source: Source) -> list[bytes]:
    """All members of a gzip file, one after the other."""
    pieces: list[bytes] = []
    rest = source.path.read_bytes()
    try:
        while rest.startswith(_GZIP):
            member = zlib.decompressobj(wbits=31)
            pieces.append(member.decompress(rest))
            if not member.eof:
                raise _corrupt(source, "unexpected end of file")
            rest = member.unused_data
    except zlib.error as error:
        raise _corrupt(source, one_line(error)) from error
    if rest.strip(b"\0"):
        raise _corrupt(source, "other bytes follow the packed data")
    return pieces

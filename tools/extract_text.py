"""Read Jane Austen's six novels out of Debian's `r-cran-janeaustenr` and write the course's text file.

The package is data for the R language: `Rdata.rdx` says where each object lies in `Rdata.rdb`, and each object is a
zlib stream of R's serialization format (XDR). A novel is one character vector, a string per printed line. Only that
much of the format is read here; anything else is an error.

    apt-get download r-cran-janeaustenr && dpkg-deb -x r-cran-janeaustenr_*.deb austen
    python tools/extract_text.py austen/usr/lib/R/site-library/janeaustenr/data specdec_helpers/lm/data/austen.txt.xz

What is done to the text: printed lines are joined into paragraphs (one line each), headings are left out, a handful
of signs are written plainly, and a paragraph that still holds a sign outside the course's 65 characters (all digits:
dates, sums of money) is left out. Nothing else is changed. The output is the same bytes each time.
"""

from __future__ import annotations

import argparse
import lzma
import re
import struct
import sys
import zlib
from pathlib import Path

NOVELS = ("sensesensibility", "prideprejudice", "mansfieldpark", "emma", "northangerabbey", "persuasion")
STRSXP, INTSXP, CHARSXP = 16, 13, 9
ALPHABET = "\n !\"'(),-.:;?ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
PLAIN = {
    "_": "",
    "[": "(",
    "]": ")",
    "&c": "etc",
    "&": "and",
    "`": "'",
}  # underscores mark italics in the source
HEADING = re.compile(
    r"(chapter|volume|letter) ([ivxlc]+|\d+)\.?|finis|the end|by jane austen|\W*", re.IGNORECASE
)


def slots(index: bytes) -> dict[str, tuple[int, int]]:
    """Name -> (offset, length) of the objects that an `.rdx` index lists, in its own order."""
    places = [
        struct.unpack(">ii", index[m.end() : m.end() + 8])
        for m in re.finditer(re.escape(struct.pack(">ii", INTSXP, 2)), index)
    ]
    start = index.index(struct.pack(">ii", STRSXP, len(places)))
    names, _ = strings(index, start)
    return dict(zip(names, places, strict=True))


def strings(data: bytes, start: int) -> tuple[list[str], int]:
    """The character vector that begins at `start`, and where it ends."""
    flags, count = struct.unpack_from(">ii", data, start)
    if flags & 0xFF != STRSXP:
        raise ValueError(f"expected a character vector at byte {start}, found R type {flags & 0xFF}")
    at, out = start + 8, []
    for _ in range(count):
        kind, size = struct.unpack_from(">ii", data, at)
        if kind & 0xFF != CHARSXP or size < 0:
            raise ValueError(f"expected a string at byte {at}, found R type {kind & 0xFF} of size {size}")
        out.append(data[at + 8 : at + 8 + size].decode("utf-8"))
        at += 8 + size
    return out, at


def read_novels(folder: Path) -> dict[str, list[str]]:
    """The printed lines of each novel, from the package's data folder."""
    where = slots(zlib.decompress((folder / "Rdata.rdx").read_bytes(), wbits=47))
    blob = (folder / "Rdata.rdb").read_bytes()
    novels = {}
    for name in NOVELS:
        offset, length = where[name]
        data = zlib.decompress(blob[offset + 4 : offset + length])  # the first 4 bytes are the unpacked size
        header = 14 + struct.unpack_from(">i", data, 14)[0] + 4 if data[2:6] == b"\0\0\0\3" else 14
        novels[name] = strings(data, header)[0]
    return novels


def plain(lines: list[str]) -> str:
    """One novel as paragraphs, a line each, in the course's characters."""
    text = "\n".join(line.strip() for line in lines)
    for sign, instead in PLAIN.items():
        text = text.replace(sign, instead)
    paragraphs = [" ".join(block.split()) for block in re.split(r"\n\n+", text)]
    kept = [p for p in paragraphs if not HEADING.fullmatch(p) and not p.isupper() and set(p) <= set(ALPHABET)]
    return "\n".join(kept) + "\n"


def main() -> int:
    """Read, clean, check the alphabet, write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="the package's data folder (holds Rdata.rdb)")
    parser.add_argument("output", type=Path, help="where the .xz goes")
    args = parser.parse_args()
    text = "".join(plain(lines) for lines in read_novels(args.folder).values())
    args.output.write_bytes(lzma.compress(text.encode("ascii"), preset=9 | lzma.PRESET_EXTREME))
    print(
        f"{len(text):,} characters, {len(set(text))} different, {args.output.stat().st_size:,} bytes packed"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())

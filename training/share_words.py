"""Stores a fine-tuned model: without its word table, which another file of the program has, and compressed.

The program puts both right when it opens the model (src/eval/model/stored.rs). With --join, the whole ONNX file is made
again from the stored form, for other runtimes; files of the form before, without compression, are read too.

Usage: python share_words.py models/NAME/model.onnx models/NAME/weights.bin
       python share_words.py models/entailment/twelve.onnx models/entailment/twelve.bin
       python share_words.py --join models/NAME/weights.bin model.onnx
"""

import argparse
import hashlib
import struct
from pathlib import Path

import zstandard

MODELS = Path(__file__).parent.parent / "models"
# What has a word table: the sentence encoder, and the one of the networks of twelve layers, which is nothing else.
HOLDERS = (MODELS / "minilm-l6-v2" / "model.onnx", MODELS / "entailment" / "words.bin")
BEFORE, MAGIC = b"GLSHARE1", b"GLSHARE2"
LEVEL = 19


def crc32c(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 0xFF] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def words(data):
    import onnx
    return next(t.raw_data for t in onnx.load_from_string(data).graph.initializer if t.name == "words")


def share(source, target):
    whole = source.read_bytes()
    table = words(whole)
    at, origins = whole.find(table), [holder.read_bytes().find(table) for holder in HOLDERS]
    origin = next((place for place in origins if place >= 0), None)
    if origin is None:
        raise SystemExit(f"{source}: its words are those of none of {', '.join(map(str, HOLDERS))}; they must not be trained")
    head = MAGIC + struct.pack("<4Q", at, origin, len(table), crc32c(whole))
    packed = zstandard.ZstdCompressor(level=LEVEL).compress(whole[:at] + whole[at + len(table):])
    target.write_bytes(head + packed)


def joined(stored):
    """The bytes of the whole file."""
    if stored[:8] not in (BEFORE, MAGIC):
        raise SystemExit("no file that this program stored")
    at, origin, length, checksum = struct.unpack("<4Q", stored[8:40])
    file = stored[40:] if stored[:8] == BEFORE else zstandard.ZstdDecompressor().decompress(stored[40:])
    for holder in HOLDERS:
        whole = file[:at] + holder.read_bytes()[origin:origin + length] + file[at:]
        if crc32c(whole) == checksum:
            return whole
    raise SystemExit(f"it was made for other words than those of {', '.join(map(str, HOLDERS))}")


def join(source, target):
    target.write_bytes(joined(source.read_bytes()))


def whole(stored, folder):
    """The whole ONNX file of a stored one, in a folder, under a name that tells its content: other weights are another file."""
    path = folder / f"start-{hashlib.sha256(stored.read_bytes()).hexdigest()[:12]}.onnx"
    if not path.exists():
        part = path.with_suffix(".part")
        join(stored, part)
        part.replace(path)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--join", action="store_true", help="make the whole file again")
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    args = parser.parse_args()
    (join if args.join else share)(args.source, args.target)


if __name__ == "__main__":
    main()

"""Takes the word table out of a fine-tuned model, because the sentence encoder's file has the same one.

The program puts it back when it opens the model (src/eval/model/assets.rs). With --join, the whole ONNX file is made
again from the stored form, for other runtimes.

Usage: python share_words.py models/NAME/model.onnx models/NAME/weights.bin
       python share_words.py --join models/NAME/weights.bin model.onnx
"""

import argparse
import hashlib
import struct
from pathlib import Path

ENCODER = Path(__file__).parent.parent / "models" / "minilm-l6-v2" / "model.onnx"
MAGIC = b"GLSHARE1"


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
    whole, encoder = source.read_bytes(), ENCODER.read_bytes()
    table = words(whole)
    at, origin = whole.find(table), encoder.find(table)
    if origin < 0:
        raise SystemExit(f"{source}: its words are not those of {ENCODER}; they must not be trained")
    head = MAGIC + struct.pack("<4Q", at, origin, len(table), crc32c(whole))
    target.write_bytes(head + whole[:at] + whole[at + len(table):])


def join(source, target):
    stored, encoder = source.read_bytes(), ENCODER.read_bytes()
    if not stored.startswith(MAGIC):
        raise SystemExit(f"{source} was not made by this program")
    at, origin, length, checksum = struct.unpack("<4Q", stored[8:40])
    whole = stored[40:40 + at] + encoder[origin:origin + length] + stored[40 + at:]
    if crc32c(whole) != checksum:
        raise SystemExit(f"{source} was made for other words than those of {ENCODER}")
    target.write_bytes(whole)


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

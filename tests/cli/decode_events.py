"""Decodes event files without any code of this project: checksums by the crc32c package, messages by protoc, pictures by zlib.

    decode_events.py FOLDER -> JSON {"train": [[step, tag, what], ...], ...}; a message and exit code 1 for anything odd.
"""
import json
import os
import re
import struct
import subprocess
import sys
import zlib

import crc32c

HERE = os.path.dirname(os.path.abspath(__file__))


def masked(data):
    crc = crc32c.crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(path):
    with open(path, "rb") as file:
        data = file.read()
    at = 0
    while at < len(data):
        length, check = struct.unpack_from("<QI", data, at)
        assert masked(data[at:at + 8]) == check, f"{path}: checksum of a length at {at}"
        payload = data[at + 12:at + 12 + length]
        assert len(payload) == length and masked(payload) == struct.unpack_from("<I", data, at + 12 + length)[0], at
        yield payload
        at += 16 + length
    assert at == len(data), f"{path}: bytes after the last record"


def decode(payload):
    """The message as nested lists of (name, value); protoc fails on what does not fit, and prints unknown fields by number."""
    text = subprocess.run(["protoc", f"-I{HERE}", "--decode=Event", "events.proto"], input=payload, capture_output=True,
                          check=True).stdout.decode()
    stack = [[]]
    for line in text.splitlines():
        line = line.strip()
        if line.endswith("{"):
            inner = []
            stack[-1].append((line[:-1].strip(), inner))
            stack.append(inner)
        elif line == "}":
            stack.pop()
        else:
            name, value = line.split(": ", 1)
            stack[-1].append((name, value))
    return stack[0]


def unescape(text):
    """A quoted bytes field of protoc's text."""
    body = text[1:-1].encode("latin-1")
    simple = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b'"': b'"', b"'": b"'", b"\\": b"\\"}
    return re.sub(rb"\\([0-7]{1,3}|.)", lambda m: simple.get(m[1]) or bytes([int(m[1], 8)]), body, flags=re.S)


def picture(message, tag):
    field = dict(message)
    png = unescape(field["encoded_image_string"])
    assert png[:8] == b"\x89PNG\r\n\x1a\n", tag
    at, pixels = 8, b""
    while at < len(png):
        size, kind = struct.unpack_from(">I4s", png, at)
        assert zlib.crc32(png[at + 4:at + 8 + size]) == struct.unpack_from(">I", png, at + 8 + size)[0], tag
        if kind == b"IHDR":
            width, height = struct.unpack_from(">II", png, at + 8)
        if kind == b"IDAT":
            pixels += png[at + 8:at + 8 + size]
        at += 12 + size
    assert (width, height) == (int(field["width"]), int(field["height"])), tag
    assert len(zlib.decompress(pixels)) == height * (width + 1), tag
    return f"{width}x{height} {zlib.crc32(png)}"


def histogram(message, tag):
    field = dict(message)
    limits = [float(v) for name, v in message if name == "bucket_limit"]
    counts = [float(v) for name, v in message if name == "bucket"]
    assert len(limits) == len(counts) and limits == sorted(limits), tag
    assert sum(counts) == float(field["num"]), tag
    assert limits[-1] == float(field.get("max", 0)), tag
    return [float(field.get(name, 0)) for name in ("min", "max", "num", "sum", "sum_squares")] + counts


def events(path):
    out, version = [], None
    for number, payload in enumerate(records(path)):
        message = decode(payload)
        field = dict(message)
        names = {name for name, _ in message}
        assert names <= {"wall_time", "step", "file_version", "summary"}, f"{path}: unknown fields {names}"
        assert float(field["wall_time"]) > 1.6e9, path
        if number == 0:
            version = field["file_version"]
            continue
        for name, value in field["summary"]:
            assert name == "value", name
            one = dict(value)
            tag = one["tag"].strip('"')
            if "image" in one:
                what = picture(one["image"], tag)
            elif "histo" in one:
                what = histogram(one["histo"], tag)
            else:
                what = float(one.get("simple_value", "0"))
            out.append([int(field.get("step", "0")), tag, what])
    assert version == '"brain.Event:2"', path
    return out


folder = sys.argv[1]
print(json.dumps({split: events(os.path.join(folder, split, "events.out.tfevents.locus")) for split in sorted(os.listdir(folder))}))

"""Writes the seed inputs of the fuzz targets (fuzz/corpus/<target>/). Needs only Python; the same bytes each time."""
import gzip
import io
import json
import os
import struct
import zipfile
import zlib

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "corpus")


def put(target, name, data):
    folder = os.path.join(HERE, target)
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def tensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def entry(dtype, shape, begin, end):
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


two = {"__metadata__": {"format": "pt"}, "a": entry("F32", [2, 1], 0, 8), "b": entry("I64", [], 8, 16)}
put("safetensors", "two", tensors(two, bytes(range(16))))
put("safetensors", "empty", tensors({}))
put("safetensors", "half", tensors({"h": entry("BF16", [1, 0], 0, 0), "b": entry("BOOL", [3], 0, 3)}, b"\x01\0\x01"))
put("safetensors", "hole", tensors({"a": entry("U8", [1], 1, 2)}, b"ab"))
put("safetensors", "overlap", tensors({"a": entry("U8", [2], 0, 2), "b": entry("U8", [1], 1, 2)}, b"ab"))
put("safetensors", "overflow", tensors({"a": entry("F64", [1 << 62, 1 << 62], 0, 2)}, b"ab"))
put("safetensors", "long_header", struct.pack("<Q", 1 << 60) + b"{}")
put("safetensors", "nested", tensors(b'{"a":' + b"[" * 300))
put("safetensors", "twice", tensors(b'{"a":{"dtype":"U8","shape":[0],"data_offsets":[0,0]},"a":{}}'))
put("safetensors", "checksum", tensors({"__metadata__": {"locus.sha256": "0" * 64}}))


def npy(descr, shape, data, fortran=False, version=1):
    text = repr({"descr": descr, "fortran_order": fortran, "shape": shape}).encode() + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(text))
    return b"\x93NUMPY" + bytes([version, 0]) + length + text + data


put("npy", "doubles", npy("<f8", (2, 2), struct.pack("<4d", 1, -2.5, float("nan"), 1e300)))
put("npy", "big_fortran", npy(">i2", (2, 3), bytes(range(12)), True, 2))
put("npy", "scalar", npy("|b1", (), b"\x01", version=3))
put("npy", "half", npy("<f2", (3,), b"\0\x3c\0\xfc\1\0"))
put("npy", "empty", npy("<u4", (0, 5), b""))
put("npy", "rank4", npy("|u1", (1, 2, 2, 1), b"abcd", True))
put("npy", "huge", npy("<f8", (1 << 40, 1 << 40), b""))
put("npy", "negative", npy("<f8", (-1,), b"12345678"))
put("npy", "structured", npy([("a", "<f4")], (1,), b"1234"))
put("npy", "unclosed", b"\x93NUMPY\x01\0\x08\0{'descr'")


def npz(method, names=("a.npy", "b.npy")):
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", method) as z:
        for n in names:
            info = zipfile.ZipInfo(n)
            info.compress_type = method
            z.writestr(info, npy("<f4", (3,), struct.pack("<3f", 1, 2, 3)))
    return stream.getvalue()


put("npz", "stored", npz(zipfile.ZIP_STORED))
put("npz", "deflated", npz(zipfile.ZIP_DEFLATED))
put("npz", "no_entries", npz(zipfile.ZIP_STORED, ()))
put("npz", "cut", npz(zipfile.ZIP_DEFLATED)[:-30])
stream = io.BytesIO()
with zipfile.ZipFile(stream, "w") as z:
    with z.open(zipfile.ZipInfo("a.npy"), "w", force_zip64=True) as f:
        f.write(npy("<f4", (1,), b"\0\0\0\0"))
put("npz", "zip64_entry", stream.getvalue())
plain = npz(zipfile.ZIP_STORED, ("a.npy",))
end = plain.rindex(b"PK\x05\x06")
start = struct.unpack("<I", plain[end + 16 : end + 20])[0]
record = struct.pack("<IQHHIIQQQQ", 0x06064B50, 44, 45, 45, 0, 0, 1, 1, end - start, start)
locator = struct.pack("<IIQI", 0x07064B50, 0, end, 1)
put("npz", "zip64_end", plain[:end] + record + locator + plain[end : end + 8] + b"\xff" * 12 + b"\0\0")
bomb = bytearray(npz(zipfile.ZIP_DEFLATED, ("a.npy",)))
at = bomb.rindex(b"PK\x01\x02")
bomb[at + 24 : at + 28] = b"\xfe\xff\xff\xff"
put("npz", "bomb", bytes(bomb))



def idx(code, shape, data):
    return bytes([0, 0, code, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + data


put("idx", "bytes", idx(8, (2, 2, 2), bytes(range(8))))
put("idx", "labels", idx(8, (3,), b"\x07\x02\x01"))
put("idx", "shorts", idx(0x0B, (2,), struct.pack(">2h", 1, -2)))
put("idx", "doubles", idx(0x0E, (1, 2), struct.pack(">2d", 1.5, float("nan"))))
put("idx", "gzipped", gzip.compress(idx(8, (2, 2), b"abcd"), mtime=0))
put("idx", "empty", idx(8, (0, 28, 28), b""))
put("idx", "cut", idx(8, (9, 9), b"abc"))
put("idx", "too_long", idx(8, (2,), b"abc"))
put("idx", "huge", idx(0x0E, (1 << 31, 1 << 31, 1 << 31), b""))
put("idx", "type", idx(0x0A, (1,), b"a"))
put("idx", "gzip_cut", gzip.compress(idx(8, (9, 9), bytes(81)), mtime=0)[:-12])


def png(width, height, depth, colour, rows, *more, interlace=0):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    head = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, interlace)
    body = b"".join(chunk(k, d) for k, d in more)
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + body + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


put("png", "grey", png(2, 2, 8, 0, b"\0\x01\xff\0\x02\x03"))
put("png", "grey16", png(2, 1, 16, 0, b"\0\x01\x00\xff\xff"))
put("png", "bits", png(3, 1, 1, 0, b"\0\xa0"))
put("png", "colour", png(1, 2, 8, 2, b"\0\x01\x02\x03\0\x04\x05\x06"))
put("png", "palette", png(2, 1, 8, 3, b"\0\x00\x01", (b"PLTE", b"\1\2\3\4\5\6")))
put("png", "opaque", png(1, 1, 8, 6, b"\0\x01\x02\x03\xff"))
put("png", "transparent", png(1, 1, 8, 4, b"\0\x01\x80"))
put("png", "huge", png(1 << 30, 1 << 30, 8, 0, b"\0"))
put("png", "short_data", png(4, 4, 8, 0, b"\0\1\2"))
put("png", "cut", png(2, 2, 8, 0, b"\0\x01\xff\0\x02\x03")[:-20])

put("table", "numbers", "\x00a,b\n1,2\nn/a,-3e5\n")
put("table", "quoted", '\x00"a ""x""","b\r\nc"\r\n1,"2"\r\n')
put("table", "tabs", "\x01x\ty\n1\t\n")
put("table", "blanks", "\x02  1  2\n 3 \t4\n")
put("table", "row_names", '\x00"",x\nr1,1\nr2,2\n')
put("table", "short_header", "\x00x\nr1,1\n")
put("table", "unclosed", '\x00a\n"b')
put("table", "ragged", "\x00a,b\n1\n")
put("table", "byte_order_mark", b"\x03\xef\xbb\xbf1;2\r3;4\r")
put("table", "inner_byte_order_mark", b"\x00\n\n\xef\xbb\xbf\n1\n")
put("table", "comments", "\x00# made, by\n#\n# a,b\n1,2\n")
put("table", "comment_of_blanks", "\x02# 2 3\n 1  2\n 3  4\n# end\n")
put("table", "range", "\x00x\n1e999\n-1e-999\n+inf\n")


def nifti1(shape, code, data, order="<", slope=0.0, extension=b"", magic=b"n+1\0"):
    head = bytearray(348)
    struct.pack_into(order + "i", head, 0, 348)
    struct.pack_into(order + "8h", head, 40, len(shape), *(list(shape) + [1] * (7 - len(shape))))
    struct.pack_into(order + "hh", head, 70, code, 8)
    struct.pack_into(order + "3f", head, 108, 352 + len(extension), slope, 1.0)
    head[344:348] = magic
    return bytes(head) + (b"\1\0\0\0" if extension else b"\0\0\0\0") + extension + data


def nifti2(shape, code, data, order="<", extension=b""):
    head = bytearray(540)
    struct.pack_into(order + "i", head, 0, 540)
    head[4:12] = b"n+2\0\r\n\x1a\n"
    struct.pack_into(order + "hh", head, 12, code, 8)
    struct.pack_into(order + "8q", head, 16, len(shape), *(list(shape) + [1] * (7 - len(shape))))
    struct.pack_into(order + "qdd", head, 168, 544 + len(extension), 0.0, 0.0)
    return bytes(head) + (b"\1\0\0\0" if extension else b"\0\0\0\0") + extension + data


put("nifti", "bytes", nifti1((2, 2, 1), 2, b"abcd"))
put("nifti", "scaled", nifti1((3,), 4, b"\1\0\2\0\xff\xff", slope=0.5))
put("nifti", "big_endian", nifti1((2,), 16, struct.pack(">2f", 1.5, -2), ">"))
put("nifti", "version2", nifti2((1, 2), 64, struct.pack("<2d", 1.5, -2)))
put("nifti", "version2_big", nifti2((2,), 1024, struct.pack(">2q", 1, -2), ">"))
put("nifti", "gzipped", gzip.compress(nifti1((2, 2), 512, b"abcdefgh"), mtime=0))
put("nifti", "extension", nifti1((1,), 256, b"a", extension=struct.pack("<ii", 16, 6) + b"comment\0"))
put("nifti", "negative", nifti1((-2, 2), 2, b"abcd"))
put("nifti", "huge", nifti2((1 << 40, 1 << 40), 2, b""))
put("nifti", "pair", nifti1((1,), 2, b"a", magic=b"ni1\0"))
put("nifti", "gzip_cut", gzip.compress(nifti1((9, 9), 2, bytes(81)), mtime=0)[:-12])

SERIES = (
    '<MatrixIndicesMap AppliesToMatrixDimension="{}" IndicesMapToDataType="CIFTI_INDEX_TYPE_SERIES" '
    'NumberOfSeriesPoints="2" SeriesExponent="-3" SeriesStart="0" SeriesStep="720" SeriesUnit="SECOND"/>'
)
PARCELS = (
    '<MatrixIndicesMap AppliesToMatrixDimension="{}" IndicesMapToDataType="CIFTI_INDEX_TYPE_PARCELS">'
    '<Parcel Name="A&amp;B"><Vertices BrainStructure="CIFTI_STRUCTURE_CORTEX_LEFT">1 2 3</Vertices></Parcel>'
    '<Parcel Name="C"><VoxelIndicesIJK>1 2 3\n4 5 6</VoxelIndicesIJK></Parcel></MatrixIndicesMap>'
)
LABELS = (
    '<MatrixIndicesMap AppliesToMatrixDimension="{}" IndicesMapToDataType="CIFTI_INDEX_TYPE_LABELS"><NamedMap>'
    '<MapName>m</MapName><LabelTable><Label Key="-1" Red="1" Green="0.5" Blue="0" Alpha="1">one</Label></LabelTable>'
    "</NamedMap></MatrixIndicesMap>"
)
MODELS = (
    '<MatrixIndicesMap AppliesToMatrixDimension="{}" IndicesMapToDataType="CIFTI_INDEX_TYPE_BRAIN_MODELS">'
    '<BrainModel IndexOffset="0" IndexCount="2" ModelType="CIFTI_MODEL_TYPE_SURFACE" '
    'BrainStructure="CIFTI_STRUCTURE_CORTEX_LEFT" SurfaceNumberOfVertices="9"><VertexIndices>0 5</VertexIndices></BrainModel>'
    '<BrainModel IndexOffset="2" IndexCount="1" ModelType="CIFTI_MODEL_TYPE_VOXELS" '
    'BrainStructure="CIFTI_STRUCTURE_THALAMUS_LEFT"><VoxelIndicesIJK>1 2 3</VoxelIndicesIJK></BrainModel></MatrixIndicesMap>'
)


def xml(*maps):
    return '<?xml version="1.0" encoding="UTF-8"?><CIFTI Version="2"><Matrix>' + "".join(maps) + "</Matrix></CIFTI>"


DOCUMENTS = {
    "ptseries": (2, 2, xml(SERIES.format(0), PARCELS.format(1))),
    "pconn": (2, 2, xml(PARCELS.format("0,1"))),
    "dlabel": (1, 3, xml(LABELS.format(0), MODELS.format(1))),
    "pscalar": (1, 2, xml(LABELS.format(0).replace("LABELS", "SCALARS"), PARCELS.format(1))),
    "version1": (2, 2, xml(SERIES.format(0)).replace('Version="2"', 'Version="1.0"')),
    "missing_axis": (2, 2, xml(SERIES.format(0))),
    "wrong_size": (3, 2, xml(SERIES.format(0), PARCELS.format(1))),
    "dimension_5": (2, 2, xml(SERIES.format(5))),
    "broken": (2, 2, xml(SERIES.format(0))[:-9]),
    "deep": (1, 1, "<a>" * 2000),
}
for name, (columns, rows, text) in DOCUMENTS.items():
    put("cifti_xml", name, bytes([columns, rows]) + text.encode())
    content = text.encode() + b"\0" * (-(len(text) + 8) % 16)
    extension = struct.pack("<ii", len(content) + 8, 32) + content
    put("cifti", name, nifti2((1, 1, 1, 1, columns, rows), 16, bytes(4 * columns * rows), extension=extension))


def element(kind, data, order="<"):
    if len(data) <= 4 and order == "<":
        return struct.pack("<HH", kind, len(data)) + data.ljust(4, b"\0")
    return struct.pack(order + "II", kind, len(data)) + data + b"\0" * (-len(data) % 8)


def array(name, kind, shape, *parts, flags=0, order="<"):
    body = element(6, struct.pack(order + "II", kind | flags, 0), order) + element(5, struct.pack(f"{order}{len(shape)}i", *shape), order)
    return struct.pack(order + "II", 14, 0)[:4], body + element(1, name.encode(), order) + b"".join(parts)


def mat5(*variables, packed=False, order="<"):
    out = b"MATLAB 5.0 MAT-file".ljust(124) + (b"\0\1IM" if order == "<" else b"\1\0MI")
    for tag, body in variables:
        whole = tag + struct.pack(order + "I", len(body)) + body
        if packed:
            data = zlib.compress(whole)
            whole = struct.pack(order + "II", 15, len(data)) + data
        out += whole
    return out


doubles = array("x", 6, (2, 2), element(9, struct.pack("<4d", 1, 2, 3, 4)))
small = array("y", 9, (1, 3), element(2, b"abc"))
sparse = array("s", 5, (2, 2), element(5, struct.pack("<2i", 0, 1)), element(5, struct.pack("<3i", 0, 1, 2)), element(9, struct.pack("<2d", 5, 6)))
put("mat", "doubles", mat5(doubles, small))
put("mat", "packed", mat5(doubles, small, packed=True))
put("mat", "sparse", mat5(sparse))
put("mat", "sparse_logical", mat5(array("s", 5, (2, 1), element(5, struct.pack("<2i", 0, 1)), element(5, struct.pack("<2i", 0, 2)), element(9, b"\1\1"), flags=0x0200)))
put("mat", "cell", mat5(array("c", 1, (1, 1)), doubles))
put("mat", "complex", mat5(array("z", 6, (1, 1), element(9, bytes(8)), element(9, bytes(8)), flags=0x0800)))
put("mat", "big_endian", mat5(array("x", 6, (1, 2), element(7, struct.pack(">2f", 1, 2), ">"), order=">"), order=">"))
put("mat", "huge", mat5(array("x", 6, (0x7FFFFFFF, 0x7FFFFFFF), element(9, bytes(8)))))
put("mat", "negative", mat5(array("x", 6, (-2, 2), element(9, bytes(8)))))
put("mat", "sparse_bad", mat5(array("s", 5, (2, 1), element(5, struct.pack("<2i", 9, 1)), element(5, struct.pack("<2i", 0, 2)), element(9, bytes(16)))))
put("mat", "sparse_nan", mat5(array("s", 5, (2, 1), element(5, struct.pack("<2i", 0, 1)), element(7, struct.pack("<2f", 0, float("nan"))), element(9, bytes(16)))))
put("mat", "version4", struct.pack("<5i", 0, 2, 1, 0, 2) + b"x\0" + struct.pack("<2d", 1, 2))
put("mat", "version4_big", struct.pack(">5i", 1050, 1, 2, 0, 2) + b"x\0" + b"ab")

HEADER = "ID,LST_num,condition,puzzles,solutions\n"
put("puzzles", "good", HEADER + "0,1,Binary,1345000000000000,2\n")
put("puzzles", "quoted_windows", "\ufeff" + HEADER.replace("\n", "\r\n") + '"0","","Binary","1345000000000000","2"\r\n')
put("puzzles", "other_order", "puzzles,solutions,condition,LST_num,ID\n1345000000000000,2,Binary,,7")
put("puzzles", "wrong_solution", HEADER + "0,1,Binary,1345000000000000,3\n")
put("puzzles", "contradictory", HEADER + "0,1,Binary,1145000000000000,2\n")
put("puzzles", "two_targets", HEADER + "0,1,Binary,1355000000000000,2\n")
put("puzzles", "short", HEADER + "0,1,Binary,345000000000000,2\n")
put("puzzles", "no_column", "ID,condition,solutions\n0,Binary,2\n")
put("puzzles", "empty", "")
put("puzzles", "three", HEADER + "0,,Ternary,104200030,3\n")
put("puzzles", "nine_nearly_blank", HEADER + "0,,Binary,?" + "0" * 80 + ",1\n")
put("puzzles", "nine_some", HEADER + "0,,Quaternary,?00456789456789123" + "0" * 63 + ",1\n")


def crc32c(data):
    c = 0xFFFFFFFF
    for byte in data:
        c ^= byte
        for _ in range(8):
            c = c >> 1 ^ (0x82F63B78 if c & 1 else 0)
    return c ^ 0xFFFFFFFF


def record(payload):
    def masked(data):
        c = crc32c(data)
        return struct.pack("<I", ((c >> 15 | c << 17) + 0xA282EAD8) & 0xFFFFFFFF)
    length = struct.pack("<Q", len(payload))
    return length + masked(length) + payload + masked(payload)


version = b"\x09" + struct.pack("<d", 1.7e9) + b"\x1a\x0dbrain.Event:2"
step = b"\x09" + struct.pack("<d", 1.7e9) + b"\x10\x96\x01" + b"\x2a\x0d\x0a\x0b\x0a\x04loss\x15\0\0\x80?"
put("records", "two", record(version) + record(step))
put("records", "empty", b"")
put("records", "cut", record(version) + record(step)[:-3])
put("records", "long", struct.pack("<Q", 1 << 62) + record(version)[8:])
put("records", "endless_number", record(b"\x10" + b"\xff" * 12))
put("records", "unknown_kind", record(b"\x13\x14"))

"""Reads a safetensors file by the published layout and prints one line per tensor: name dtype shape values."""
import json
import struct
import sys

CODES = {"F32": "f", "F64": "d", "I64": "q", "I32": "i", "U8": "B", "BOOL": "?"}

data = open(sys.argv[1], "rb").read()
(length,) = struct.unpack("<Q", data[:8])
assert length % 8 == 0, "header is not padded to 8"
header = json.loads(data[8 : 8 + length])
print("metadata", json.dumps({k: v for k, v in header.pop("__metadata__", {}).items() if k != "locus.sha256"}, sort_keys=True))
end = 0
for name, entry in header.items():
    begin, stop = entry["data_offsets"]
    assert begin == end
    end = stop
    code = CODES[entry["dtype"]]
    count = (stop - begin) // struct.calcsize(code)
    values = struct.unpack(f"<{count}{code}", data[8 + length + begin : 8 + length + stop])
    print(name, entry["dtype"], entry["shape"], [float(v) for v in values])
assert 8 + length + end == len(data)

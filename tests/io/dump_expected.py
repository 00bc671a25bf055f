"""What NumPy, SciPy, h5py and nibabel read from real files: JSON with shape and CRC-32 of the C-order float64 values.

Usage: dump_expected.py DATA_FOLDER  (the folder that holds formats/, aal2/ and hcp_glasser360/)
"""
import csv
import glob
import json
import os
import sys
import zlib

import h5py
import nibabel
import numpy as np
import scipy.io

root = sys.argv[1]
out = {}


def digest(array):
    array = np.ascontiguousarray(np.asarray(array, dtype="<f8"))
    return {"shape": list(array.shape), "crc32": zlib.crc32(array.tobytes())}


def files(pattern):
    return sorted(glob.glob(os.path.join(root, pattern)))


def key(path):
    return os.path.relpath(path, root)


for path in files("formats/npy/*.npy") + files("hcp_glasser360/networks/*.npy"):
    out[key(path)] = {"kind": "matrix", **digest(np.load(path))}

for path in files("hcp_glasser360/*.h5") + files("hcp_glasser360/rest/*.h5"):
    with h5py.File(path) as f:
        out[key(path)] = {"kind": "array", "datasets": {name: digest(f[name][()]) for name in f}}

for path in files("formats/mat_v5/*.mat") + files("aal2/*.mat"):
    content = scipy.io.loadmat(path)
    numeric = {n: digest(v) for n, v in content.items() if not n.startswith("__") and v.dtype.kind in "fiub"}
    out[key(path)] = {"kind": "array", "datasets": numeric}

for path in files("formats/mat_v73/*.mat"):
    with h5py.File(path) as f:
        # MATLAB's axes stand reversed in the file.
        out[key(path)] = {"kind": "array", "datasets": {n: digest(f[n][()].T) for n in f if not n.startswith("#")}}

for path in files("formats/nifti/*.nii*"):
    image = nibabel.load(path)
    # Ours keeps the file's order, first axis fastest.
    out[key(path)] = {
        "kind": "nifti",
        "shape": list(image.shape),
        "crc32": zlib.crc32(np.asarray(image.get_fdata(), dtype="<f8").tobytes(order="F")),
        "sform": [float(v) for v in np.array([image.header["srow_" + a] for a in "xyz"]).ravel()],
    }


def axis_description(axis):
    if isinstance(axis, nibabel.cifti2.SeriesAxis):
        return {"kind": "series", "size": len(axis), "step": axis.step, "start": axis.start, "unit": axis.unit}
    if isinstance(axis, nibabel.cifti2.ParcelsAxis):
        vertices = [sum(len(v) for v in d.values()) for d in axis.vertices]
        return {"kind": "parcels", "names": axis.name.tolist(), "vertices": vertices, "voxels": [len(v) for v in axis.voxels]}
    if isinstance(axis, nibabel.cifti2.LabelAxis):
        tables = [[[k, n, list(map(float, rgba))] for k, (n, rgba) in sorted(t.items())] for t in axis.label]
        return {"kind": "labels", "names": axis.name.tolist(), "tables": tables}
    if isinstance(axis, nibabel.cifti2.ScalarAxis):
        return {"kind": "scalars", "names": axis.name.tolist()}
    models = [[name, int(s.start), int(s.stop if s.stop is not None else len(axis))] for name, s, _ in axis.iter_structures()]
    return {"kind": "brain models", "size": len(axis), "models": models}


for path in files("formats/cifti/*.nii") + files("hcp_glasser360/networks/*.nii"):
    image = nibabel.load(path)
    # nibabel gives dimension 0 first; the format's rows are dimension 1.
    out[key(path)] = {
        "kind": "cifti",
        **digest(image.get_fdata().T),
        "columns": axis_description(image.header.get_axis(0)),
        "rows": axis_description(image.header.get_axis(1)),
    }

for path in files("formats/csv/*.csv") + files("hcp_glasser360/networks/*.csv") + files("aal2/*.csv"):
    with open(path, newline="") as f:
        rows = list(csv.reader(f))
    out[key(path)] = {"kind": "table", "rows": rows}

json.dump(out, sys.stdout)

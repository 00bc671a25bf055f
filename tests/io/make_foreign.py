"""Writes small files with SciPy, h5py and nibabel in every variety our readers claim, and prints what must be read (JSON).

Usage: make_foreign.py FOLDER (mat | hdf5 | nifti)
"""
import glob
import json
import os
import sys
import warnings
import zlib

import numpy as np

folder, what = sys.argv[1:3]
out = {}
rng = np.random.default_rng(5)
warnings.simplefilter("ignore")


def digest(array, order="C"):
    array = np.asarray(array, dtype="<f8")
    return {"shape": list(array.shape), "crc32": zlib.crc32(array.tobytes(order=order))}


def mat_expectation(path):
    import scipy.io
    import scipy.sparse

    content = {}
    for name, value in scipy.io.loadmat(path).items():
        if name.startswith("__"):
            continue
        if scipy.sparse.issparse(value):
            value = value.toarray()
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            content[name] = digest(value)
    return content


def make_mat():
    import scipy
    import scipy.io
    import scipy.sparse

    values = {t: (rng.normal(size=(4, 3)) * 50).astype(t) for t in ["f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"]}
    values["b"] = rng.normal(size=(3, 2)) > 0
    values["cube"] = rng.normal(size=(2, 3, 4))
    values["sparse"] = scipy.sparse.csc_matrix(np.diag([1.0, 2, 3, 0])[:, :3])
    values["empty"] = np.zeros((0, 3))
    values["text"] = "hello"
    values["cell"] = np.array([[1, "a"]], dtype=object)
    values["record"] = {"x": 1.0}
    values["complex"] = np.ones((2, 2)) * 1j
    for packed in [False, True]:
        path = os.path.join(folder, f"v5_{packed}.mat")
        scipy.io.savemat(path, values, do_compression=packed)
        out[path] = mat_expectation(path)
    path = os.path.join(folder, "v4.mat")
    scipy.io.savemat(path, {"x": values["f8"], "y": np.arange(3.0), "t": "text"}, format="4")
    out[path] = mat_expectation(path)
    # SciPy's own test files, where they are installed; two hold broken text, which does not matter for numbers.
    data = os.path.join(os.path.dirname(scipy.io.__file__), "matlab", "tests", "data")
    for path in sorted(glob.glob(os.path.join(data, "*.mat"))):
        if "4.2c" in path and "sparse" in path:
            continue
        try:
            out[path] = mat_expectation(path)
        except Exception:
            continue


def make_hdf5():
    import h5py

    path = os.path.join(folder, "types.h5")
    content = {}
    with h5py.File(path, "w") as f:
        for t in ["<f4", ">f8", "<f2", "i1", ">i2", "<i4", "<i8", "u1", "<u2", ">u4", "<u8"]:
            content[t.strip("<>")] = f.create_dataset(t.strip("<>"), data=(rng.normal(size=(3, 5)) * 20).astype(t))[()]
        packed = rng.normal(size=(70, 90))
        f.create_dataset("group/packed", data=packed, chunks=(16, 16), compression="gzip", shuffle=True)
        content["group/packed"] = packed
        f.create_dataset("scalar", data=3.5)
        content["scalar"] = np.float64(3.5)
        f.create_dataset("text", data="words")
        f.create_dataset("huge", shape=(1 << 40, 1 << 20), chunks=(1024, 1024), dtype="f8")
        f.create_dataset("large", shape=(1 << 15, 1 << 14), chunks=(1024, 1024), dtype="f8")
    out[path] = {name: digest(value) for name, value in content.items()}
    with h5py.File(os.path.join(folder, "one.h5"), "w") as f:
        f.create_dataset("names", data=np.array([b"a", b"b"]))
        f.create_dataset("vector", data=np.arange(4.0))
        f.create_dataset("deep/matrix", data=np.arange(6.0).reshape(2, 3))


def make_nifti():
    import nibabel

    for maker, tag in [(nibabel.Nifti1Image, "n1"), (nibabel.Nifti2Image, "n2")]:
        for t in ["u1", "i1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]:
            for order in "<>":
                data = (rng.normal(size=(3, 4, 2)) * 40).astype(order + t)
                header = maker.header_class(endianness=order)
                header.set_data_dtype(order + t)
                image = maker(data, np.diag([2, 3, 4, 1]), header)
                ends = ".nii.gz" if t in ("i2", "f4") else ".nii"
                path = os.path.join(folder, f"{tag}_{t}_{'l' if order == '<' else 'b'}{ends}")
                nibabel.save(image, path)
                out[path] = digest(nibabel.load(path).get_fdata(), "F")
    image = nibabel.Nifti1Image(rng.normal(size=(5, 5)), np.eye(4))
    image.header.set_data_dtype("i2")
    path = os.path.join(folder, "scaled.nii")
    nibabel.save(image, path)
    out[path] = digest(nibabel.load(path).get_fdata(), "F")


{"mat": make_mat, "hdf5": make_hdf5, "nifti": make_nifti}[what]()
json.dump(out, sys.stdout)

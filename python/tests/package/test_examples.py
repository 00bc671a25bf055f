"""The ten-line script and the notebooks run, and notebooks are kept without outputs."""
import json
import os
import subprocess
import sys
import time

import pytest

PYTHON = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
NOTEBOOKS = sorted(os.listdir(os.path.join(PYTHON, "notebooks")))


def test_the_script_on_digits(tmp_path):
    pytest.importorskip("sklearn")
    pytest.importorskip("matplotlib")
    done = subprocess.run([sys.executable, os.path.join(PYTHON, "examples", "digits.py"), "picture.png"], cwd=tmp_path,
                          capture_output=True, text=True, env={**os.environ, "MPLBACKEND": "Agg"})
    assert done.returncode == 0, done.stderr
    accuracy = float(done.stdout.split(":")[1])
    assert accuracy > 0.93, done.stdout
    assert (tmp_path / "picture.png").read_bytes()[:4] == b"\x89PNG"


def test_there_are_notebooks():
    assert len(NOTEBOOKS) == 2


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_are_kept_without_outputs(name):
    with open(os.path.join(PYTHON, "notebooks", name), encoding="utf-8") as file:
        book = json.load(file)
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            assert cell["outputs"] == [] and cell["execution_count"] is None, name


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """The name of a notebook kernel that is this interpreter: the default one may be another, without the package."""
    folder = tmp_path / "kernels" / "here"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"],
                                                    "display_name": "here", "language": "python"}), encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path))
    return "here"


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_notebooks_run(name, tmp_path, kernel):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    book = nbformat.read(os.path.join(PYTHON, "notebooks", name), as_version=4)
    client = nbclient.NotebookClient(book, timeout=300, kernel_name=kernel, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = json.dumps([cell.get("outputs", []) for cell in book.cells])
    assert "image/png" in shown or "<svg" in shown, "a figure was shown"


def test_an_interrupted_cell_leaves_a_run_that_goes_on(tmp_path, kernel):
    """What the stop button of a notebook does: SIGINT to the kernel while a cell trains."""
    jupyter_client = pytest.importorskip("jupyter_client")
    pytest.importorskip("ipykernel")
    sys.path.insert(0, os.path.dirname(__file__))
    from conftest import TINY
    import locus
    manager = jupyter_client.KernelManager(kernel_name=kernel)
    manager.start_kernel(cwd=str(tmp_path))
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=60)
        client.execute(f"import locus\nlocus.train({TINY!r}, {{'stop.epochs': 1000000}}, out='run', "
                       "callbacks=lambda s: open('started', 'w').close())")
        for _ in range(600):
            if (tmp_path / "started").exists():
                break
            time.sleep(0.05)
        manager.interrupt_kernel()
        reply = client.get_shell_msg(timeout=60)
        while reply["msg_type"] != "execute_reply":
            reply = client.get_shell_msg(timeout=60)
        assert reply["content"]["status"] == "error" and reply["content"]["ename"] == "KeyboardInterrupt"
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    run = locus.Run(tmp_path / "run")
    assert run.status == "interrupted"
    done = run.state["epochs"]
    assert locus.train(TINY, {"stop.epochs": done + 1}, out=tmp_path / "run").status == "finished"

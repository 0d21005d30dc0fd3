"""Makes the demo's lake in a temporary folder and executes every notebook on it: `python -m tests.run_notebooks`.

The notebooks' `lake` parameter is replaced; an error in a cell ends the run with exit code 1. Nothing is written
beside the notebooks.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def execute(path: Path, folder: Path, lake: Path) -> int:
    """Runs one notebook in `folder` with its parameter set. Returns its number of cells; raises CellExecutionError."""
    import jupytext
    from nbclient import NotebookClient
    from traitlets.config import Config

    notebook = jupytext.read(path)
    at = next(index for index, cell in enumerate(notebook.cells) if "parameters" in cell.metadata.get("tags", ()))
    notebook.cells[at].source += f"\nlake = {str(lake)!r}"
    sockets = Config({"KernelManager": {"transport": "ipc", "ip": str(folder / "kernel")}})  # files, no TCP ports
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, kernel_name="python3", timeout=300, resources=resources, config=sockets).execute()
    return len(notebook.cells)


def main() -> int:
    """Every notebook, one after another."""
    from nbclient.exceptions import CellExecutionError

    from bathtub.nightly import Progress
    from bathtub.showcase import run_demo

    os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"  # else the kernel warns of frozen modules
    with TemporaryDirectory(prefix="bathtub-notebooks-") as temporary:
        folder = Path(temporary)
        os.environ["IPYTHONDIR"] = os.environ["JUPYTER_CONFIG_DIR"] = str(folder / "config")
        run_demo(folder / "demo", Progress())
        for path in sorted(NOTEBOOKS.glob("[0-9][0-9]_*.py")):
            try:
                print(f"{path.name}: {execute(path, folder, folder / 'demo' / 'lake')} cells ran")
            except CellExecutionError as error:
                print(f"{path.name}: {error}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The command from an installed wheel, in a folder with a user's files and nothing of ours."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(words: list[str]) -> None:
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder into which the wheel is installed; what it depends on is there already."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder)]
    run([*build, str(ROOT)])
    (wheel,) = folder.glob("samepool-*.whl")
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--no-deps", "--no-index", "--target"]
    run([*pip, str(target), str(wheel)])
    return target


def test_an_installed_wheel_needs_no_checkout(
    installed: Path, here: Path, environment: dict[str, str]
) -> None:
    assert (installed / "pipeline/_conf/compare.yaml").is_file()
    environment = environment | {"PYTHONPATH": str(installed)}
    words = ["compare", "--config-dir", "conf", "pool=shop", "experiment=nightly", "tracking=none"]
    done = subprocess.run(
        [installed / "bin/samepool", *words, "out=out"],
        cwd=here, env=environment, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert (here / "out/report.html").is_file()
    where = subprocess.run(
        [sys.executable, "-c", "import pipeline; print(pipeline.__file__)"],
        cwd=here, env=environment, capture_output=True, text=True, timeout=60, check=True,
    )  # fmt: skip
    assert where.stdout.strip() == str(installed / "pipeline/__init__.py")

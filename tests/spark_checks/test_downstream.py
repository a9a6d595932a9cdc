"""A project of a stranger's installs the wheel, and runs its own suite with it."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
import venv
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from onceproof.spark_checks import Delta, Postgres
from onceproof.spark_checks.session.java import class_archive
from onceproof.spark_checks.session.java.jvm import java_version
from tests.spark_checks.stores.needed import needs

pytestmark = [pytest.mark.spark, pytest.mark.grid]

ROOT = Path(__file__).parents[2]
PROJECT = Path(__file__).parent / "downstream"
VERDICTS = {
    "test_orders_take_effect_once[upsert]": "held",
    "test_orders_take_effect_once[append]": "refuted",
    "test_orders_take_effect_once[own_format]": "refuted",
    "test_any_orders_take_effect_once": "refuted",
}
IN_STORES = {
    "test_payments_in_postgres[inserted]": "refuted",
    "test_payments_in_postgres[inserted_by_key]": "held",
    "test_payments_in_delta[added]": "refuted",
    "test_payments_in_delta[added_by_number]": "held",
}


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Make an environment with the wheel in it; what it needs is there already."""
    home = tmp_path_factory.mktemp("stranger")
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    built = [*pip, "wheel", str(ROOT), "--no-deps", "--no-build-isolation", "-w", home]
    subprocess.run([*map(str, built)], check=True, capture_output=True)
    venv.create(home / "venv", with_pip=False)
    made = home / "venv" / "bin" / "python"
    asked = "import site; print(site.getsitepackages()[0])"
    where = subprocess.check_output([made, "-c", asked], text=True).strip()
    [wheel] = home.glob("*.whl")
    into = ["install", "--no-deps", "--no-index", "--target", where, str(wheel)]
    subprocess.run([*pip, *into], check=True, capture_output=True)
    # Only what a line of a .pth names is added: no editable install comes with it.
    Path(where, "needs.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return made


@pytest.fixture
def project(tmp_path):
    return shutil.copytree(PROJECT, tmp_path / "orders", dirs_exist_ok=True)


def run(python, project, *words, **variables):
    """Run the suite; give the outcome of each test, its verdict, and what was said."""
    kept = {k: v for k, v in os.environ.items() if k not in ("CI", "PYTHONPATH")}
    kept[class_archive.VARIABLE] = str(class_archive.archive(java_version()))
    done = subprocess.run(
        [python, "-m", "pytest", "--junitxml=junit.xml", *words],
        cwd=project,
        env={**kept, **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    cases = ET.parse(project / "junit.xml").getroot().iter("testcase")
    verdicts = {
        case.get("name"): found.get("value")
        for case in cases
        for found in case.iter("property")
        if found.get("name") == "onceproof_verdict"
    }
    return done, verdicts


def test_it_is_the_wheel_that_is_tested(python, project):
    """And not the folder that it was made from."""
    asked = "import onceproof.spark_checks as it; print(it.__file__)"

    result = subprocess.check_output([python, "-c", asked], cwd=project, text=True)

    assert not Path(result).is_relative_to(ROOT)


def test_one_sink_holds_and_one_is_refuted(python, project):
    """With a file for the failure, where the project wants it."""
    words = ["--onceproof-most=4", "-k", "upsert or append"]

    done, verdicts = run(python, project, *words)

    assert verdicts == dict(list(VERDICTS.items())[:2]), done.stdout + done.stderr
    assert "1 failed, 1 passed" in done.stdout
    assert len(list(project.glob("failures/*/*--effectively-once.json"))) == 1


@pytest.mark.grid
def test_sinks_on_stores_are_judged_and_a_known_failure_is_expected(python, project):
    """PostgreSQL and Delta start by themselves; the file of a failure replays it."""
    needs(Postgres())
    needs(Delta())
    words = ["-rx", "--onceproof-most=4", "tests/test_payments.py"]

    done, verdicts = run(python, project, *words)
    [file] = project.glob("failures/*/inserted--effectively-once.json")
    command = [python, "-m", "onceproof.spark_checks.cli", "replay", file]
    again = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=False
    )

    assert verdicts == IN_STORES, done.stdout + done.stderr
    assert "1 failed, 2 passed, 1 xfailed" in done.stdout
    assert "refuted: tests/test_payments.py::test_payments_in_postgres" in done.stdout
    assert "until 2999-01-31: adds a batch again; the number is planned" in done.stdout
    assert (again.returncode, again.stdout[:6]) == (1, "FAILED"), again.stderr


@pytest.mark.grid
def test_one_sink_holds_and_three_are_refuted(python, project):
    """A format and an example of Hypothesis among them."""
    words = ["--onceproof-most=16", "--hypothesis-seed=0", "tests/test_orders.py"]
    words += ["--onceproof-shrink-budget=15"]

    done, verdicts = run(python, project, *words)

    assert verdicts == VERDICTS, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "onceproof: --onceproof-profile=dev --onceproof-seed=0" in done.stdout
    assert len(list(project.glob("failures/*/*--effectively-once.json"))) == 3
    assert done.stdout.count("refuted: tests/test_orders.py") == 3


@pytest.mark.grid
def test_in_ci_on_two_workers_and_with_a_seed_it_is_all_the_same(python, project):
    """Each worker has a session of its own; the seed is Hypothesis's."""
    words = ["-n", "2", "--hypothesis-seed=3", "-k", "upsert or append"]

    done, verdicts = run(python, project, *words, CI="1")

    assert verdicts == dict(list(VERDICTS.items())[:2]), done.stdout + done.stderr
    assert "options: --onceproof-profile=ci --onceproof-seed=3" in done.stdout
    assert done.stdout.count("refuted: tests/test_orders.py") == 1
    assert "beyond the cap" not in done.stdout

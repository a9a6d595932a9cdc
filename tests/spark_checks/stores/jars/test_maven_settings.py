"""The mirror that Maven's own settings name is used in place of Central."""

from __future__ import annotations

import base64

import pytest

from onceproof.spark_checks.stores.interface import StoreError
from onceproof.spark_checks.stores.jars.maven import (
    CENTRAL,
    VARIABLE,
    fetched,
    repository,
)
from onceproof.spark_checks.stores.jars.maven_settings import Repository
from tests.spark_checks.stores.jars.test_maven import JAR, SOUND, serving

NAMESPACE = ' xmlns="http://maven.apache.org/SETTINGS/1.2.0"'


@pytest.fixture(autouse=True)
def home(monkeypatch, tmp_path):
    """Give each test a home and a cache of its own."""
    monkeypatch.setenv("ONCEPROOF_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv(VARIABLE, raising=False)
    (tmp_path / ".m2").mkdir()
    return tmp_path


def settings(
    home, mirrored, *, url="https://mirror.example/maven", namespace="", more=""
):
    """Write Maven's settings with one mirror."""
    (home / ".m2" / "settings.xml").write_text(
        f"<settings{namespace}><mirrors><mirror><id>ours</id><url>{url}</url>"
        f"<mirrorOf>{mirrored}</mirrorOf></mirror></mirrors>{more}</settings>"
    )


@pytest.mark.parametrize("namespace", ["", NAMESPACE])
@pytest.mark.parametrize("mirrored", ["*", "central", "external:*", "other, central"])
def test_a_mirror_of_central_is_used(home, mirrored, namespace):
    """However the settings say that it is one."""
    settings(home, mirrored, namespace=namespace)

    assert repository().url == "https://mirror.example/maven"


@pytest.mark.parametrize("mirrored", ["other", "*,!central", "external:http:*", ""])
def test_a_mirror_of_something_else_is_not(home, mirrored):
    """Central itself is used."""
    settings(home, mirrored)

    assert repository() == Repository(CENTRAL)


def test_what_the_variable_names_counts_more(home, monkeypatch):
    """It is the user's word on this tool."""
    settings(home, "*")
    monkeypatch.setenv(VARIABLE, "https://named.example/maven/")

    assert repository() == Repository("https://named.example/maven")


def test_the_login_of_a_mirror_goes_to_the_mirror(home, monkeypatch):
    """It is filled in from the environment, as Maven does."""
    monkeypatch.setenv("MIRROR_PASSWORD", "se:cret")
    login = (
        "<servers><server><id>ours</id><username>jo</username>"
        "<password>${env.MIRROR_PASSWORD}</password></server></servers>"
    )
    with serving(SOUND) as server:
        settings(home, "*", url=server.url, more=login)
        fetched([JAR])

    expected = base64.b64encode(b"jo:se:cret").decode()
    assert server.logins == [f"Basic {expected}"]


def test_a_login_in_the_variable_is_used_and_never_shown(monkeypatch):
    """Neither in a message nor in what stands for it."""
    with serving((403, b"", 0)) as server:
        address = server.url.replace("http://", "http://jo:s%40cret@")
        monkeypatch.setenv(VARIABLE, address)
        with pytest.raises(StoreError) as error:
            fetched([JAR])

    assert server.logins == [f"Basic {base64.b64encode(b'jo:s@cret').decode()}"]
    assert "it answers 403" in str(error.value)
    assert "cret" not in str(error.value) + repr(repository())


def test_settings_that_are_no_xml_are_refused(home):
    """The message names the file."""
    (home / ".m2" / "settings.xml").write_text("<settings>")

    with pytest.raises(StoreError, match=r"settings\.xml cannot be read"):
        repository()

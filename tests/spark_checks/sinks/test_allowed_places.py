"""What may be written to is compared part by part, and no password is shown."""

from __future__ import annotations

import re

import pytest

from onceproof.spark_checks.inject import sandbox
from onceproof.spark_checks.inject.failures.redaction import redacted
from onceproof.spark_checks.inject.refusal import refusal, suggested
from onceproof.spark_checks.sinks import allowed_places


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        ("127.0.0.1:5432", "127.0.0.1:5432"),
        ("127.0.0.1:5432", "localhost:5432"),
        ("[::1]:5432", "localhost:5432"),
        ("::1", "[::1]"),
        ("[::ffff:10.0.0.7]:5432", "10.0.0.7:5432"),
        ("DB.Example.com.:5432", "db.example.com:5432"),
        ("db.example.com:5432", "db.example.com"),
        ("jdbc:postgresql://db/orders", "db:5432"),
        ("jdbc:postgresql://db/orders", "jdbc:postgresql://db:5432/orders"),
        ("jdbc:postgresql://u:p@db:5432/orders?x=1", "jdbc:postgresql://db/orders"),
        ("jdbc:postgresql://a:5432,b:5432/orders", "a:5432 b:5432"),
        ("jdbc:sqlserver://db;databaseName=x;password=y", "db:1433"),
        (
            "jdbc:sqlserver://db;databaseName=x;password=y",
            "jdbc:sqlserver://db;databaseName=x",
        ),
        ("jdbc:oracle:thin:u/p@//db:1521/orders", "db:1521"),
        ("jdbc:oracle:thin:u/p@db:1521:orders", "db:1521"),
        ("k1:9092,k2:9092", "k1:9092 k2:9092"),
        ("s3a://bucket/orders/day", "s3a://bucket/orders"),
        ("s3a://bucket/orders", "bucket"),
        ("abfss://box@account/orders", "abfss://box@account/"),
        ("http://db%2Eexample%2Ecom/x", "db.example.com:80"),
        ("2130706433:80", "127.0.0.1:80"),
        ("/data/out/day", "/data/out"),
        ("/data/out", "/data/out/"),
        ("file:/data/out/x", "/data/out"),
        ("file:///data/out/x", "file:/data/out"),
        ("FILE://localhost/data/out/x", "/data/out"),
        ("/data/./out/../out/x", "/data/out"),
    ],
)
def test_what_is_named_is_allowed(place, allowed):
    """However it is written."""
    assert allowed_places.allows(place, allowed.split(" "))


@pytest.mark.parametrize(
    ("place", "allowed"),
    [
        ("127.0.0.1:54329", "127.0.0.1:5432"),
        ("127.0.0.1:543", "127.0.0.1:5432"),
        ("localhost.evil.com:5432", "localhost:5432"),
        ("localhost.evil.com", "localhost"),
        ("evil-db.example.com", "db.example.com"),
        ("127.0.0.1.evil.com:80", "127.0.0.1"),
        ("127.0.0.2:80", "127.0.0.1:80"),
        ("[::2]:5432", "[::1]:5432"),
        ("jdbc:postgresql://db:5433/orders", "db:5432"),
        ("jdbc:mysql://db/orders", "db:5432"),
        ("jdbc:postgresql://db/other", "jdbc:postgresql://db/orders"),
        ("jdbc:postgresql://db/orders2", "jdbc:postgresql://db/orders"),
        ("jdbc:mysql://db:5432/orders", "jdbc:postgresql://db:5432/orders"),
        ("jdbc:postgresql://db:5432,evil/orders", "db:5432"),
        ("jdbc:postgresql://db:5432@evil/orders", "db:5432"),
        ("jdbc:postgresql://db/orders?host=evil", "db:5432"),
        ("postgresql://evil#@db:5432/orders", "db:5432"),
        (r"postgresql://evil\@db:5432/orders", "db:5432"),
        ("jdbc:mysql:loadbalance://db:3306,evil/x", "db:3306"),
        ("jdbc:mysql://(host=evil)(port=1)/x", "db:3306"),
        (
            "jdbc:sqlserver://db;databaseName=other",
            "jdbc:sqlserver://db;databaseName=x",
        ),
        ("k1:9092,evil:9092", "k1:9092"),
        ("s3a://bucket-2/orders", "s3a://bucket"),
        ("s3a://bucket/orders2", "s3a://bucket/orders"),
        ("s3a://bucket/orders/../other", "s3a://bucket/orders"),
        ("abfss://other@account/orders", "abfss://box@account/orders"),
        ("/tmp/xy", "/tmp/x"),
        ("/tmp/x/../y", "/tmp/x"),
        ("file:/tmp/xy", "/tmp/x"),
        ("file:/tmp/x/%2e%2e/y", "/tmp/x"),
        ("file://evil/tmp/x", "/tmp/x"),
        ("/", "/tmp"),
        ("/tmp/x", "tmp"),
        ("db", "/db"),
    ],
)
def test_what_only_begins_alike_is_not_allowed(place, allowed):
    """Neither longer names and numbers, nor ways round."""
    assert not allowed_places.allows(place, allowed.split(" "))


def test_a_link_leads_where_it_leads(tmp_path):
    """A path is what it stands for: out of what is allowed, or into it."""
    (tmp_path / "own").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "own" / "out").symlink_to(tmp_path / "other")
    (tmp_path / "in").symlink_to(tmp_path / "own")
    allowed = [str(tmp_path / "own")]

    assert allowed_places.allows(str(tmp_path / "in" / "x"), allowed)
    assert not allowed_places.allows(str(tmp_path / "own" / "out" / "x"), allowed)
    assert allowed_places.allows(str(tmp_path / "own" / "x"), [str(tmp_path / "in")])


@pytest.mark.parametrize("option", ["url", "URL", "Kafka.Bootstrap.Servers"])
def test_options_are_held_whatever_their_case(option):
    """Spark takes their names in any case."""
    assert not sandbox.permitted(option, "evil:1", ("db:5432",))
    assert sandbox.permitted(option, "db:5432", ("db:5432",))


def test_a_relative_path_of_spark_is_a_path(tmp_path, monkeypatch):
    """It is no host of that name."""
    monkeypatch.chdir(tmp_path)

    assert sandbox.permitted("path", "out", (str(tmp_path),))
    assert not sandbox.permitted("path", "out", ("out",))


SECRET = "hunter2"


@pytest.mark.parametrize(
    "text",
    [
        "jdbc:postgresql://bob:hunter2@db:5432/orders",
        "jdbc:postgresql://bob:hunt/er2@hunter2@db/orders",
        "jdbc:postgresql://db/orders?user=bob&password=hunter2&ssl=true",
        "jdbc:sqlserver://db:1433;user=sa;password=hunter2;encrypt=true",
        "jdbc:oracle:thin:scott/hunter2@//db:1521/orders",
        "https://account.blob/x?sv=1&sig=hunter2&x=1",
        "mongodb+srv://bob:p@hunter2@db/x",
        "bob:hunter2@db:5432",
        "PGPASSWORD=hunter2",
        "AccountKey=hunter2==;EndpointSuffix=x",
        "aws_secret_access_key=hunter2",
        "fs.s3a.secret.key=hunter2",
        "{'password': 'hunter2', 'user': 'bob'}",
        'options(Password="a hunter2 b")',
        '.option("password", "hunter2").save()',
        'sasl.jaas.config=Login required username="u" password="hunter2";',
        "Authorization: Bearer hunter2",
    ],
)
def test_no_secret_is_shown(text):
    """In whatever form it is given; the same text again changes nothing."""
    shown = redacted(text)

    assert SECRET not in shown
    assert "***" in shown
    assert redacted(shown) == shown


@pytest.mark.parametrize(
    "text",
    [
        "line 12 of x.py, write(): passed = total(5)",
        "line 3 of x.py, write(): for token in tokens:",
        'line 3 of x.py, write(): row["key"] = order_id',
        "/tmp/x:y is none of the sink's own",
        "db.example.com:5432",
        "s3a://bucket/key=1/part-0",
    ],
)
def test_other_text_stays(text):
    """A report must still say what it says."""
    assert redacted(text) == text


def test_a_refusal_shows_no_secret():
    """It names the place, and stands in logs."""
    url = f"jdbc:postgresql://bob:{SECRET}@db:5432/orders?password={SECRET}"

    message = refusal("shop.py::shop", url, where="line 3 of shop.py, write()")

    assert message.startswith("shop writes to jdbc:postgresql://")
    assert " in line 3 of shop.py, write(), which is none of the sink's own" in message
    assert 'give allow="db:5432", in the marker' in message
    assert not re.search(SECRET, message)


PLACES = [
    "/srv/audit/log.txt",
    "file:/srv/audit%20s/log.txt",
    "127.0.0.1:5432",
    "[::1]:5432",
    "[fe80::2]:9092",
    "db.example.com",
    "k1:9092,k2:9092",
    "jdbc:postgresql://bob:secret@db/orders?x=1",
    "jdbc:sqlserver://db;databaseName=x;password=y",
    "jdbc:oracle:thin:u/p@db:1521:orders",
    "jdbc:h2:mem:x",
    "s3a://bucket/orders/day",
    "abfss://box@account/orders",
    "http://db%2Eexample%2Ecom/x",
    "kafka://k1,k2/topic",
]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("file", [False, True])
def test_what_a_refusal_suggests_is_just_what_allows_the_place(place, file):
    """It is given as it is, and allows no other host and no other folder."""
    names = suggested(place, file=file)

    assert allowed_places.allows(place, names)
    for name in names:
        assert name in refusal("x.py::sink", place, file=file)
    for other in ("/srv/other", "evil:5432", "evil", "s3a://evil/orders"):
        assert not allowed_places.allows(other, names)


def test_of_a_file_the_folder_is_suggested(tmp_path):
    """The next batch may write to another file; a folder is suggested as it is."""
    file = str(tmp_path / "out.txt")

    assert suggested(file, file=True) == (str(tmp_path),)
    assert suggested(str(tmp_path), file=True) == (str(tmp_path),)
    assert suggested(file) == (file,)

"""Code is kept by the hash of its files, and nothing of it leads out of its folder."""

from __future__ import annotations

import io
import random
import zipfile
from pathlib import Path

import pytest

from service.contract.wire.errors import InvalidInput, TooLarge
from service.store.code import CodeStore, hash_of, unpacked

FILES = {"main.py": b"x = 1\n", "parts/more.py": b"y = 2\n"}


def archive(files: dict[str, bytes], link: str | None = None) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
        if link is not None:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = 0o120777 << 16
            packed.writestr(entry, "/etc/passwd")
    return buffer.getvalue()


def test_the_same_files_have_the_same_hash_in_any_order(tmp_path: Path) -> None:
    store = CodeStore(tmp_path)
    first, second = store.put(FILES, "main.py"), store.put(dict(reversed(FILES.items())), "main.py")
    assert first == second == hash_of(FILES, "main.py")
    place = store.content(first)
    assert place is not None and unpacked(place.read_bytes(), 1000) == FILES


@pytest.mark.parametrize(
    ("files", "entry"),
    [
        ({**FILES, "main.py": b"x = 2\n"}, "main.py"),
        ({"main.py": b"x = 1\n", "parts/other.py": b"y = 2\n"}, "main.py"),
        (FILES, "parts/more.py"),
    ],
    ids=["another content", "another name", "another entry"],
)
def test_other_code_has_another_hash(files: dict[str, bytes], entry: str) -> None:
    assert hash_of(files, entry) != hash_of(FILES, "main.py")


def test_what_is_known_of_it_stays_when_it_is_sent_again(tmp_path: Path) -> None:
    store = CodeStore(tmp_path)
    code = store.put(FILES, "main.py")
    known = store.reading(code)
    assert known is not None and not known.is_over
    store.note(code, known.model_copy(update={"attempt": 2}))
    again = store.reading(store.put(FILES, "main.py"))
    assert again is not None and again.attempt == 2


def test_requirements_are_the_lines_of_their_file(tmp_path: Path) -> None:
    store = CodeStore(tmp_path)
    known = store.reading(store.put({**FILES, "requirements.txt": b"# ours\ntimm==1.0\n\n"}, "main.py"))
    assert known is not None and known.requirements == ["timm==1.0"]


@pytest.mark.parametrize("name", ["../out.py", "/etc/passwd", "a/../../out.py", "C:\\x.py", "a\x1b.py", "c:x"])
def test_a_name_that_leads_out_of_the_folder_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match=r"leads out|control characters"):
        CodeStore(tmp_path / "code").put({**FILES, name: b""}, "main.py")
    assert not (tmp_path / "code").exists()


@pytest.mark.parametrize("entry", ["none.py", "parts", "readme.txt"])
def test_the_entry_is_a_python_file_of_the_code(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InvalidInput, match=r"is not a Python file of the code, which has main.py"):
        CodeStore(tmp_path).put({**FILES, "readme.txt": b""}, entry)


def test_links_and_what_is_no_archive_are_refused() -> None:
    with pytest.raises(InvalidInput, match="is a link"):
        unpacked(archive(FILES, link="passwd.py"), 1000)
    with pytest.raises(InvalidInput, match="cannot be read"):
        unpacked(b"no archive", 1000)


def test_an_archive_is_measured_by_what_it_unpacks_to() -> None:
    with pytest.raises(TooLarge, match="100,000 bytes, over the limit of 50,000"):
        unpacked(archive({"main.py": b"#" * 100_000}), 50_000)
    with pytest.raises(TooLarge, match="files, over the limit"):
        unpacked(archive({f"{i}.py": b"" for i in range(2001)}), 50_000)


def test_an_archive_damaged_anywhere_is_refused_in_words() -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, content in FILES.items():
            packed.writestr(name, content * 50)
    whole, draw = buffer.getvalue(), random.Random(0)
    refused = 0
    for _ in range(400):
        damaged = bytearray(whole)
        for _ in range(3):
            damaged[draw.randrange(len(damaged))] = draw.randrange(256)
        try:
            unpacked(bytes(damaged), 1_000_000)
        except (InvalidInput, TooLarge):
            refused += 1
    assert refused > 100


def test_more_requirements_than_a_study_may_have_are_refused_at_once(tmp_path: Path) -> None:
    lines = "\n".join(f"package{i}" for i in range(65)).encode()
    with pytest.raises(InvalidInput, match="65 packages, over the limit of 64"):
        CodeStore(tmp_path).put({**FILES, "requirements.txt": lines}, "main.py")
    with pytest.raises(InvalidInput, match="control characters"):
        CodeStore(tmp_path).put({**FILES, "requirements.txt": b"timm\x1b[31m"}, "main.py")

"""A CSV file that grows row by row, so that an interrupted sweep resumes where it stopped.

Beside the file stands `FILE.unfinished`, which says what the rows are about, and under which limits they were computed,
until the table is complete.
"""

from __future__ import annotations

import csv
import io
from argparse import Namespace
from collections.abc import Container, Sequence
from pathlib import Path

from tightdp.cli.errors import UsageError

__all__ = ["TableFile", "grows"]

Row = list[str]


def grows(options: Namespace) -> bool:
    """Whether rows are written to a file as they come; a picture needs all of them first."""
    return options.csv not in (None, "-") and options.plot is None


class TableFile:
    """The rows that are known, by their first cells.

    An unresolved row is asked again; under other limits also one that is not exact.
    """

    def __init__(self, path: Path, about: str, limits: str, keys: int) -> None:
        """Read what the file has, where it is the unfinished table of the same question."""
        self._path, self._keys = path, keys
        self._marker = path.with_name(f"{path.name}.unfinished")
        self._header: Row = []
        self._rows: dict[tuple[str, ...], Row] = {}
        try:
            if path.exists() and self._marker.exists():
                before, _, within = self._marker.read_text(encoding="utf-8").partition("\n")
                if before == about:
                    self._read(("exact", "bounded") if within == limits else ("exact",))
            self._marker.write_text(f"{about}\n{limits}", encoding="utf-8")
            self._write(self._rows)
        except OSError as error:
            raise self._error(error) from None

    def __contains__(self, key: tuple[str, ...]) -> bool:
        return key in self._rows

    def __len__(self) -> int:
        return len(self._rows) - sum("unresolved" in row for row in self._rows.values())

    def _read(self, kept: Container[str]) -> None:
        with self._path.open(encoding="utf-8", newline="") as lines:
            self._header, *rows = list(csv.reader(lines)) or [[]]
        status = self._header.index("status") if "status" in self._header else None
        for row in rows:
            if status is not None and len(row) == len(self._header) and row[status] in kept:
                self._rows[tuple(row[: self._keys])] = row

    def add(self, text: str) -> None:
        """Append the row of a table that has one: a header and the row, as CSV."""
        header, row = csv.reader(io.StringIO(text))
        unknown = len(header) != len(self._header) and row[header.index("status")] == "unresolved"
        if unknown and self._header:  # nothing is known of it, not even which numbers it would have
            row = [*row[: self._keys], *[""] * (len(self._header) - self._keys - 3), *row[-3:]]
        elif header != self._header:
            self._header = header
            self._rows = {key: _widened(known, header, self._keys) for key, known in self._rows.items()}
            self._write(self._rows)
        self._rows[tuple(row[: self._keys])] = row
        try:
            with self._path.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file, lineterminator="\n").writerow(row)
        except OSError as error:
            raise self._error(error) from None

    def finish(self, order: Sequence[tuple[str, ...]]) -> None:
        """Write the rows in their order: the table is complete."""
        self._write({key: self._rows[key] for key in order})
        self._marker.unlink(missing_ok=True)

    def _write(self, rows: dict[tuple[str, ...], Row]) -> None:
        with self._path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerows([self._header, *rows.values()] if self._header else [])

    def _error(self, error: OSError) -> UsageError:
        return UsageError(f"cannot write {self._path}: {error.strerror}", "give a path that can be written")


def _widened(row: Row, header: Row, keys: int) -> Row:
    """Return a row of which nothing is known with the columns that others have."""
    return row if len(row) == len(header) else [*row[:keys], *[""] * (len(header) - keys - 3), *row[-3:]]

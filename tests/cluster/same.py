"""same.py A.db B.db: whether two journals are equal row for row. What only says where they come from is left out."""
import sqlite3
import sys

ORIGIN = ("version", "commit", "binary hash", "date", "command", "host", "folder")


def rows(path):
    journal = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    content = {table: journal.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
               for table in ("faults", "launches", "structures", "sources", "outcomes")}
    content["meta"] = [row for row in journal.execute("SELECT * FROM meta ORDER BY 1") if row[0] not in ORIGIN]
    return content


def difference(one, other):
    """Of two journals; None: they are equal."""
    one, other = rows(one), rows(other)
    for name, wanted in one.items():
        found = other[name]
        if wanted != found:
            pairs = (pair for pair in zip(wanted, found) if pair[0] != pair[1])
            return f"table {name}: {len(wanted)} and {len(found)} rows; first difference: {next(pairs, 'in their number')}"
    return None if one["faults"] else "no faults at all"


if __name__ == "__main__":
    sys.exit(difference(sys.argv[1], sys.argv[2]))

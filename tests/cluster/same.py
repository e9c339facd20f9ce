"""same.py A.db B.db: whether two journals are equal row for row. What only says where they come from is left out."""
import sqlite3
import sys

ORIGIN = ("version", "commit", "binary hash", "date", "command", "host")


def rows(path):
    journal = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    content = {table: journal.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall()
               for table in ("faults", "launches", "structures", "sources", "outcomes")}
    content["meta"] = [row for row in journal.execute("SELECT * FROM meta ORDER BY 1") if row[0] not in ORIGIN]
    return content


one, other = rows(sys.argv[1]), rows(sys.argv[2])
for name, wanted in one.items():
    found = other[name]
    if wanted == found:
        continue
    sys.exit(f"table {name}: {len(wanted)} and {len(found)} rows; first difference: "
             f"{next((pair for pair in zip(wanted, found) if pair[0] != pair[1]), 'in their number')}")
if not one["faults"]:
    sys.exit("no faults at all")

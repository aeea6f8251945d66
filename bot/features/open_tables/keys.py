"""Keys of open tables in the store.

| key | type | contents |
|---|---|---|
| ``{open}:tables`` | hash | codes of the tables at which anyone may sit down, with the opener's id |
"""

TABLES = "{open}:tables"

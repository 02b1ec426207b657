"""An answer as Arrow and as Parquet, as pyarrow, pandas and polars read it: types, and values as texts."""

import datetime
import io
import json
import os
import urllib.request

import pandas
import polars
import pyarrow
import pyarrow.ipc
import pyarrow.parquet


def ask(fmt):
    body = json.dumps({"query": os.environ["QUERY"], "fmt": fmt}).encode()
    headers = {"authorization": f"Bearer {os.environ['BRAINTRUST_API_KEY']}"}
    request = urllib.request.Request(f"{os.environ['BRAINTRUST_API_URL']}/btql", body, headers)
    with urllib.request.urlopen(request) as answer:
        return answer.read()


def text(value):
    if value is None or value is pandas.NA or value is pandas.NaT:
        return None
    if isinstance(value, datetime.datetime):
        return value.astimezone(datetime.timezone.utc).isoformat(timespec="microseconds")
    if isinstance(value, str):
        return value
    if hasattr(value, "__iter__"):
        return [text(item) for item in value]
    return repr(value)


def of_arrow(table):
    types = {field.name: str(field.type) for field in table.schema}
    return {"types": types, "rows": [[text(value) for value in row.values()] for row in table.to_pylist()]}


def of_pandas(frame):
    rows = zip(*(frame[name].array for name in frame.columns))
    return {"types": frame.dtypes.astype(str).to_dict(), "rows": [[text(value) for value in row] for row in rows]}


def of_polars(frame):
    types = {name: str(kind) for name, kind in frame.schema.items()}
    return {"types": types, "rows": [[text(value) for value in row] for row in frame.iter_rows()]}


arrow, parquet = ask("arrow"), ask("parquet")
table = pyarrow.ipc.open_stream(arrow).read_all()
read = {
    "pyarrow arrow": of_arrow(table),
    "pyarrow parquet": of_arrow(pyarrow.parquet.read_table(io.BytesIO(parquet))),
    "pandas arrow": of_pandas(table.to_pandas(types_mapper=pandas.ArrowDtype)),
    "pandas parquet": of_pandas(pandas.read_parquet(io.BytesIO(parquet), dtype_backend="pyarrow")),
    "polars arrow": of_polars(polars.read_ipc_stream(io.BytesIO(arrow))),
    "polars parquet": of_polars(polars.read_parquet(io.BytesIO(parquet))),
}
print(json.dumps(read))

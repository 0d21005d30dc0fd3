"""What the lake knows of its own files: sources and rejects."""

from bathtub.schema._types import Column, Table

SOURCES = Table(
    name="sources",
    doc="One row per live source: what it is, how it was read, and where each of its records went.",
    key=("source_id",),
    day_of=None,
    domain=(("status", ("ingested", "quarantined")),),
    columns=(
        Column("source_id", "string", "identity: BLAKE3 over cluster and content (and name where it carries data)", null=False),
        Column("content_id", "string", "BLAKE3 of the decompressed content; of the bytes where they cannot be read", null=False),
        Column("cluster", "string", "cluster", null=False),
        Column("name", "string", "logical name: path below the inbox without rotation and compression suffixes", null=False),
        Column("full_name", "string", "path below the inbox as first seen", null=False),
        Column("format", "string", "format that claimed it; null where none or several did"),
        Column("format_version", "string", "version of the format and its grammars"),
        Column("settings", "string", "zone, node and the like under which it was read, as JSON text", null=False),
        Column("status", "string", "ingested or quarantined", null=False),
        Column("reason", "string", "why it is quarantined: a stable word"),
        Column("detail", "string", "the same in words, with the remedy"),
        Column("collected_at", "timestamp", "when the file was collected, UTC", null=False),
        Column("n_bytes", "int64", "decompressed size", null=False, unit="bytes"),
        Column("n_read", "int64", "records read", null=False),
        Column("n_kept", "int64", "records that gave rows", null=False),
        Column("n_rejected", "int64", "records rejected", null=False),
        Column("n_out_of_scope", "int64", "records of no interest", null=False),
        Column("first_at", "timestamp", "earliest time among the kept rows"),
        Column("last_at", "timestamp", "latest time among the kept rows"),
    ),
)

REJECTS = Table(
    name="rejects",
    doc="One row per record that could not be read, with its reason.",
    key=("source_id", "line"),
    day_of=None,
    columns=(
        Column("format", "string", "format that read the file", null=False),
        Column("source_id", "string", "identity of the source", null=False),
        Column("line", "int64", "line or record number, from 1", null=False),
        Column("reason", "string", "what is wrong: a stable word", null=False),
        Column("raw", "string", "the record, undecodable bytes replaced, cut at 4,096 characters", null=False),
    ),
)

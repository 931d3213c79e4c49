/**
 * The versions of the tables. A version that was released is never changed: a change is a new one at
 * the end.
 *
 * Text that PostgreSQL cannot hold (U+0000, lone surrogates) is escaped: JSON text by JSON itself,
 * ids and titles by `toColumn`. `jsonb` would refuse it, and would not keep numbers and the order of
 * fields.
 */
export const migrations: readonly string[] = [
  `
create sequence session_numbers;
create table sessions (
  number bigint primary key,
  id text collate "C" not null unique,
  header text not null,
  -- A copy of the header's metadata, for searching only.
  metadata jsonb not null,
  -- Each writer takes the next epoch. A writer with an earlier one is refused.
  epoch bigint not null default 0,
  next_seq integer not null default 0,
  last_id text,
  title text,
  title_lower text,
  model text,
  agent text,
  updated_at double precision not null,
  message_count integer not null default 0,
  -- The process that took the session's advisory lock last.
  holder text
);
create index sessions_updated on sessions (updated_at desc, id);
create index sessions_metadata on sessions using gin (metadata jsonb_path_ops);
create table entries (
  session bigint not null references sessions on delete cascade,
  seq integer not null,
  key text collate "C" not null,
  body text not null,
  -- Where large values were cut out of the body: see large-values.ts.
  parts text,
  words tsvector,
  primary key (session, seq),
  unique (session, key)
);
create index entries_words on entries using gin (words);
create table blobs (
  session bigint not null references sessions on delete cascade,
  digest bytea not null,
  bytes bytea not null,
  primary key (session, digest)
);
create table inbox (
  number bigint generated always as identity primary key,
  session bigint not null references sessions on delete cascade,
  message_id text collate "C" not null,
  -- Null for the message that begins a run.
  queue text,
  message text,
  at double precision not null,
  -- The run that has the message, and the drain that took it from its queue.
  run_id text,
  drain text,
  unique (session, message_id)
);
create index inbox_pending on inbox (session, number) where run_id is null;
create table drains (
  session bigint not null references sessions on delete cascade,
  run_id text collate "C" not null,
  name text collate "C" not null,
  primary key (session, run_id, name)
);
`,
];

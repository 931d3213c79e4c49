/** The tables, in versions. */
import type { Run } from "../sql/database.ts";
import { fillRuns } from "./fill-runs.ts";

/** Statements, and what fills new tables from the rows that exist. */
export type Migration =
  | string
  | { readonly sql: string; readonly fill: (run: Run, schema: string) => Promise<void> };

/**
 * The versions of the tables. A version that was released is never changed: a change is a new one at
 * the end.
 *
 * Text that PostgreSQL cannot hold (U+0000, lone surrogates) is escaped: JSON text by JSON itself,
 * ids and titles by `toColumn`. `jsonb` would refuse it, and would not keep numbers and the order of
 * fields.
 */
export const migrations: readonly Migration[] = [
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
  {
    sql: `
alter table inbox
  -- For a message that is to begin a run: the id of the run.
  add column start_run text,
  -- Then run_id is the run that will not begin.
  add column is_cancelled boolean not null default false,
  -- The message waits for another one that begins a run.
  add column is_held boolean not null default false,
  -- How often a run has put it back.
  add column returns integer not null default 0;
create index inbox_waiting on inbox (at, number) where run_id is null;
create table runs (
  session bigint not null references sessions on delete cascade,
  key text collate "C" not null,
  -- The id itself, since the key of a long one is a digest.
  run_id text not null,
  -- queued, running, ended
  state text not null,
  reason text,
  -- The user whose open runs are counted.
  owner text collate "C",
  -- Since when it is in its state.
  at double precision not null,
  primary key (session, key)
);
create index runs_key on runs (key);
create index runs_open on runs (at, session, key) where state <> 'ended';
create index runs_of_session on runs (session) where state <> 'ended';
create index runs_of_owner on runs (owner) where state <> 'ended';
create table approvals (
  session bigint not null references sessions on delete cascade,
  key text collate "C" not null,
  -- The key of the run that waits for the answer.
  run text collate "C" not null,
  -- The entry of the request.
  seq integer not null,
  expires_at double precision,
  is_open boolean not null,
  primary key (session, key)
);
create index approvals_key on approvals (key);
create index approvals_open on approvals (session, seq) where is_open;
-- The highest epoch of all deleted sessions. One row.
create table deleted_epochs (
  highest bigint not null
);
insert into deleted_epochs values (0);
`,
    fill: fillRuns,
  },
  `
create table rules (
  key text collate "C" primary key,
  -- The key itself, since that of a long one is a digest.
  name text not null,
  -- Null: the rule applies in all sessions.
  session bigint references sessions on delete cascade,
  tool text not null,
  pattern text not null,
  at double precision not null
);
create index rules_of_session on rules (session);
`,
  `
alter table inbox
  -- Whether the transcript has the message that a run has taken.
  add column is_read boolean not null default false;
-- Of earlier versions, it is not known.
update inbox set is_read = true where run_id is not null;
create index inbox_unread on inbox (session, run_id) where run_id is not null and not is_read;
alter table approvals
  -- The answer that counts, and when it was given. The entry of the answer follows.
  add column answer text,
  add column answered_at double precision;
create index approvals_answered on approvals (answered_at, session, seq)
  where is_open and answer is not null;
`,
  `
-- The engine's invocation that began the run.
alter table runs add column begun_by text;
`,
];

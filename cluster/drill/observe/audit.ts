/**
 * Watches who writes to the sessions: triggers of the drill's own in the database note each epoch that is
 * taken and each entry, with the process that does it. Both happen under the session's row lock, so their
 * order is the true one.
 */
import type { PostgresServer } from "../../../test/support/postgres.ts";
import type { AuditRow } from "../evidence.ts";

const DATABASE = "bowline";

/** Needs the tables of the sessions. */
export async function installAudit(server: PostgresServer): Promise<void> {
  await server.sql(
    `
create schema drill;
create table drill.audit (
  id bigserial primary key,
  at double precision not null default extract(epoch from clock_timestamp()) * 1000,
  process text not null default current_setting('application_name'),
  session bigint not null,
  epoch bigint,
  key text
);
create function drill.note_epoch() returns trigger language plpgsql as $$
begin
  insert into drill.audit (session, epoch) values (new.number, new.epoch);
  return null;
end $$;
create function drill.note_entry() returns trigger language plpgsql as $$
begin
  insert into drill.audit (session, key) values (new.session, new.key);
  return null;
end $$;
create trigger drill_epoch after update of epoch on bowline.sessions
  for each row when (old.epoch is distinct from new.epoch) execute function drill.note_epoch();
create trigger drill_entry after insert on bowline.entries
  for each row execute function drill.note_entry();`,
    DATABASE,
  );
}

interface Row {
  readonly id: number;
  readonly at: number;
  readonly process: string;
  readonly session: string;
  readonly epoch: number | null;
  readonly key: string | null;
}

const PAGE = 2000;

export async function readAudit(server: PostgresServer): Promise<AuditRow[]> {
  const rows: Row[] = [];
  for (let page: Row[] | undefined; page === undefined || page.length === PAGE;) {
    const text = await server.sql(
      `select coalesce(json_agg(row order by row.id), '[]') from (
        select audit.id, at, process, sessions.id as session, audit.epoch, key
        from drill.audit join bowline.sessions on number = audit.session
        where audit.id > ${rows.at(-1)?.id ?? 0} order by audit.id limit ${PAGE}) as row`,
      DATABASE,
    );
    page = JSON.parse(text) as Row[];
    rows.push(...page);
  }
  return rows.map(({ at, process: by, session, epoch, key }) =>
    epoch === null
      ? { at, session, by, what: "entry", key: key ?? "" }
      : { at, session, by, what: "epoch", epoch },
  );
}

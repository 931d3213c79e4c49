/**
 * The fields of a cluster's file as one table, from which checking, the JSON schema and the table in
 * docs/cluster-operation.md are made.
 */

export type Field = { readonly help: string } & (
  | { readonly kind: "text"; readonly isSecret?: boolean }
  | { readonly kind: "address" }
  | { readonly kind: "number"; readonly least: number; readonly most: number }
  | { readonly kind: "switch" }
  | { readonly kind: "choice"; readonly values: readonly string[] }
  /** A file, relative to the cluster's file: its path, or its text as the field `as`. */
  | { readonly kind: "file"; readonly as?: string; readonly isSecret?: boolean }
  | { readonly kind: "texts" }
  /** An object of texts with any names. */
  | { readonly kind: "headers" }
  | Group
);

interface Group {
  readonly kind: "group";
  readonly fields: Fields;
  readonly required?: readonly string[];
  /** Whether `true` and `false` may stand for it. */
  readonly isSwitch?: boolean;
}

export type Fields = Readonly<Record<string, Field>>;

const MAX_PORT = 65_535;
/** An hour. */
const MAX_MS = 3_600_000;
/** Thirty days. */
const MAX_WAIT_MS = 2_592_000_000;
const milliseconds = (help: string, byDefault: string): Field => ({
  kind: "number",
  least: 0,
  most: MAX_MS,
  help: `${help}, in milliseconds. Default ${byDefault}.`,
});
const count = (help: string): Field => ({ kind: "number", least: 1, most: 1_000_000, help });
const text = (help: string): Field => ({ kind: "text", help });
const secret = (help: string): Field => ({ kind: "text", isSecret: true, help });

export const roles = ["both", "gateway", "worker"] as const;
export type Role = (typeof roles)[number];

const databaseTls: Fields = {
  caFile: { kind: "file", as: "ca", help: "The authority's certificate, PEM." },
  certFile: { kind: "file", as: "cert", help: "The client's certificate, PEM." },
  keyFile: { kind: "file", as: "key", isSecret: true, help: "The key of `certFile`, PEM." },
  servername: text("The name in the server's certificate, if it is not the host."),
  rejectUnauthorized: {
    kind: "switch",
    help: "`false` accepts any certificate, which does not protect against a stranger's server.",
  },
};

const database: Fields = {
  host: text("A name, an address, or the folder of a Unix socket."),
  port: { kind: "number", least: 1, most: MAX_PORT, help: "Default 5432." },
  database: text("The name of the database."),
  user: text("The role that owns the tables."),
  password: secret("The password of `user`."),
  ssl: {
    kind: "group",
    isSwitch: true,
    fields: databaseTls,
    help: "TLS. `true` checks the certificate against the system's authorities. Default `false`.",
  },
  max: {
    kind: "number",
    least: 2,
    most: 1000,
    help: "The largest number of connections of this process. Default 10.",
  },
};

const postgres: Fields = {
  connectionString: secret(
    "`postgresql://user:password@host:port/database`, instead of `config`. Without both, `PGHOST`, `PGUSER`, … count.",
  ),
  config: { kind: "group", fields: database, help: "Where the server is and how to sign in." },
  schema: text("The schema of the tables. Default `bowline`."),
  migrations: {
    kind: "choice",
    values: ["automatic", "manual"],
    help: "`manual`: nothing creates or upgrades the tables but `migrate()` of `@bowline/postgres`. Default `automatic`.",
  },
  retryMs: milliseconds("How long a lost connection is retried", "10,000"),
  timeoutMs: milliseconds("The limit of a statement", "30,000"),
  pollMs: milliseconds("Interval of followers without notifications", "5,000"),
};

const worker: Fields = {
  host: text("Where the worker listens for Restate. Default 127.0.0.1."),
  port: { kind: "number", least: 0, most: MAX_PORT, help: "Its port. 0 takes a free one." },
  url: {
    kind: "address",
    help: "How Restate reaches the workers of this version. Default `http://<host>:<port>`.",
  },
  register: {
    kind: "switch",
    help: "Whether the start registers `url` with `admin`. Default `true`.",
  },
  identityKeys: {
    kind: "texts",
    help: "Public keys, `publickeyv1_…`. Requests that Restate did not sign with one are refused.",
  },
};

const restate: Fields = {
  ingress: { kind: "address", help: "The address of Restate's ingress." },
  admin: { kind: "address", help: "The address of Restate's admin interface." },
  headers: { kind: "headers", help: "Headers for both, such as `authorization`." },
  serviceName: text("The name of the service. Default `bowline`."),
  worker: {
    kind: "group",
    fields: worker,
    required: ["port"],
    help: "Needed by the roles `both` and `worker`.",
  },
};

const nats: Fields = {
  servers: {
    kind: "texts",
    help: "Addresses, such as `nats://nats-1:4222`. Default this machine.",
  },
  user: text("With `pass`."),
  pass: secret("The password of `user`."),
  token: secret("Instead of `user`."),
  credentialsFile: {
    kind: "file",
    as: "credentials",
    isSecret: true,
    help: "A `.creds` file, instead of `user`.",
  },
  tls: {
    kind: "group",
    fields: {
      caFile: { kind: "file", help: "The authority's certificate, PEM." },
      certFile: { kind: "file", help: "The client's certificate, PEM." },
      keyFile: { kind: "file", help: "The key of `certFile`, PEM." },
    },
    help: "Demands TLS. `{}` checks the certificate against the system's authorities.",
  },
  name: text("The name that the server shows for this process."),
  inboxPrefix: text("The first part of the subjects of replies. Default `_INBOX`."),
  timeoutMs: milliseconds("The limit of the first connection", "20,000"),
};

const limits: Fields = {
  maxConnections: count("Concurrent connections of a gateway. Default 2,000."),
  maxStrangers: count("Those without a valid token, out of them. Default 200."),
  maxQueuedRuns: count("Queued runs of a session. Default 20."),
  maxTurns: count("Model calls of a run. Default 100."),
  approvalTimeoutMs: {
    kind: "number",
    least: 1000,
    most: MAX_WAIT_MS,
    help: "Time limit for a person's answer, in milliseconds. Default 1,800,000.",
  },
  runTimeoutMs: {
    kind: "number",
    least: 1000,
    most: MAX_WAIT_MS,
    help: "Time limit of a run, in milliseconds. Default 7,200,000.",
  },
};

export const clusterFields: Fields = {
  role: {
    kind: "choice",
    values: roles,
    help: "What this process is. `--role` overrides it. Default `both`.",
  },
  postgres: { kind: "group", fields: postgres, help: "Sessions, queues and approvals." },
  restate: {
    kind: "group",
    fields: restate,
    required: ["ingress"],
    help: "Executes the runs.",
  },
  nats: { kind: "group", fields: nats, help: "Live events." },
  prefix: text("The first part of NATS subjects. Default `bowline`."),
  maxRunsPerUser: count("Open runs of a user over the whole cluster. Default: no limit."),
  limits: { kind: "group", fields: limits, help: "The same in all processes." },
  drain: {
    kind: "group",
    fields: {
      notReadyMs: milliseconds("How long `/ready` answers 503 before anything is closed", "0"),
      graceMs: milliseconds("How long running steps of this worker may take to end", "25,000"),
    },
    help: "The shutdown after SIGTERM.",
  },
};

export const requiredFields = ["postgres", "restate", "nats"] as const;

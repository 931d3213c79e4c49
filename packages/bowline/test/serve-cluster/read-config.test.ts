/** The file of a cluster: what is taken, replaced and refused. */
import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { readClusterConfig } from "../../src/serve/cluster/read-config.ts";
import { temporary } from "../command.ts";

const least = { postgres: {}, restate: { ingress: "http://restate:8080" }, nats: {} };

async function read(content: unknown, env: Record<string, string> = {}) {
  await using folder = await temporary();
  const file = join(folder.path, "cluster.json");
  await writeFile(join(folder.path, "ca.pem"), "-----CA-----\n");
  await writeFile(join(folder.path, "key.pem"), "-----KEY-----\n");
  await writeFile(file, typeof content === "string" ? content : JSON.stringify(content));
  return { ...(await readClusterConfig(file, env)), folder: folder.path };
}

/** The message without the folder. */
async function refusal(content: unknown, env?: Record<string, string>): Promise<string> {
  try {
    await read(content, env);
  } catch (error) {
    return (error as Error).message.replace(/^\S*\/(?=cluster\.json)/, "");
  }
  return "none";
}

describe("the file of a cluster", () => {
  it("takes the parts, and replaces variables of the environment", async () => {
    const { config, secrets } = await read(
      {
        $schema: "./cluster.schema.json",
        ...least,
        postgres: { config: { host: "db", password: "${DB_PASSWORD}" }, schema: "$${x}" },
        restate: { ...least.restate, headers: { authorization: "Bearer ${RESTATE}" } },
        nats: { servers: ["nats://a:4222", "nats://b:4222"], user: "u", pass: "${NATS}" },
        maxRunsPerUser: 3,
      },
      { DB_PASSWORD: "secret-of-db", RESTATE: "secret-of-restate", NATS: "secret-of-nats" },
    );
    assert.deepEqual(config, {
      postgres: { config: { host: "db", password: "secret-of-db" }, schema: "${x}" },
      restate: { ...least.restate, headers: { authorization: "Bearer secret-of-restate" } },
      nats: { servers: ["nats://a:4222", "nats://b:4222"], user: "u", pass: "secret-of-nats" },
      maxRunsPerUser: 3,
    });
    assert.deepEqual(secrets, ["secret-of-db", "Bearer secret-of-restate", "secret-of-nats"]);
  });

  it("finds files beside it: the text for PostgreSQL, the path for NATS", async () => {
    const { config, secrets, folder } = await read({
      ...least,
      postgres: { config: { ssl: { caFile: "ca.pem", keyFile: "./key.pem" } } },
      nats: { tls: { caFile: "ca.pem" }, credentialsFile: "key.pem" },
    });
    assert.deepEqual(config.postgres.config?.ssl, { ca: "-----CA-----\n", key: "-----KEY-----\n" });
    assert.deepEqual(config.nats, {
      tls: { caFile: join(folder, "ca.pem") },
      credentials: "-----KEY-----\n",
    });
    assert.deepEqual(secrets, ["-----KEY-----", "-----KEY-----"]);
  });

  it("names the password of an address as a secret", async () => {
    const { secrets } = await read(
      { ...least, postgres: { connectionString: "${URL}" } },
      { URL: "postgresql://ada:a-long-password@db/bowline" },
    );
    assert.deepEqual(secrets.includes("a-long-password"), true);
  });

  const refused: readonly [string, unknown, string][] = [
    [
      "an unknown name, with the nearest",
      { ...least, postgress: {} },
      'cluster.json:1:70: The file has no "postgress". Did you mean "postgres"?',
    ],
    [
      "an unknown name inside",
      { ...least, nats: { passwort: "x" } },
      'cluster.json:1:68: nats has no "passwort".',
    ],
    [
      "a missing part",
      { postgres: {}, restate: { ingress: "http://r" } },
      "cluster.json:1:1: nats is missing.",
    ],
    [
      "a missing address",
      { ...least, restate: {} },
      "cluster.json:1:16: restate.ingress is missing.",
    ],
    [
      "an address that is none",
      { ...least, restate: { ingress: "restate:8080" } },
      "cluster.json:1:27: restate.ingress takes an http address.",
    ],
    [
      "a port out of range",
      { ...least, restate: { ...least.restate, worker: { port: 70_000 } } },
      "cluster.json:1:69: restate.worker.port takes a whole number, 0 to 65535, not 70000.",
    ],
    [
      "a wrong role, with the nearest",
      { ...least, role: "worke" },
      'cluster.json:1:70: role takes one of both, gateway, worker, not this text. Did you mean "worker"?',
    ],
    [
      "a password that is no text, without showing it",
      { ...least, nats: { pass: ["a"] } },
      "cluster.json:1:68: nats.pass takes a text, not a list.",
    ],
    [
      "a list where a text belongs to a list",
      { ...least, nats: { servers: "nats://a" } },
      "cluster.json:1:68: nats.servers takes a list of 1 to 100 texts, not this text.",
    ],
    [
      "a variable that is not set",
      { ...least, nats: { pass: "${NATS_PASSWORD}" } },
      "cluster.json:1:68: nats.pass: the variable NATS_PASSWORD is not set.",
    ],
    [
      "half a variable",
      { ...least, nats: { pass: "${NATS" } },
      'cluster.json:1:68: "${NATS" is not a variable. Write ${NAME}.',
    ],
    ["what is not JSON", "{ 'a': 1 }", "cluster.json:1:3: "],
  ];
  for (const [what, content, message] of refused)
    it(`refuses ${what}`, async () => {
      const said = await refusal(content);
      assert.ok(said.startsWith(message), said);
    });

  it("refuses a certificate that cannot be read, and names the file", async () => {
    const said = await refusal({ ...least, nats: { tls: { caFile: "none.pem" } } });
    assert.match(
      said,
      /^cluster\.json:1:75: nats\.tls\.caFile: \S+none\.pem cannot be read \(ENOENT\)\.$/,
    );
  });

  it("refuses a file that does not exist", async () => {
    await assert.rejects(readClusterConfig("/no/such.json", {}), {
      name: "CommandError",
      message: "/no/such.json cannot be read (ENOENT).",
    });
  });
});

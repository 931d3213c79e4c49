/** `bowline serve --cluster` over servers that demand passwords, TLS and signed requests. */
import assert from "node:assert/strict";
import { connect } from "node:http2";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { GatewayClient } from "bowline/client";
import { startPostgres } from "../../test/support/postgres.ts";
import { createCertificates, createIdentity, type Certificates } from "../kit/certificates.ts";
import { freePorts } from "../../test/support/free-ports.ts";
import { startNats } from "../kit/nats.ts";
import { startRestate, type Restate } from "../kit/restate.ts";
import { bowline, Serving, type Ran } from "../kit/serving.ts";
import { systemIsMissing } from "../kit/system.ts";

const DATABASE_PASSWORD = "a-password-of-the-database";
const NATS_PASSWORD = "a-password-of-nats";
const TOKEN = "a-token-of-the-gateways";
const env = { DATABASE_PASSWORD, NATS_PASSWORD, BOWLINE_TOKEN: TOKEN };

describe("bowline serve --cluster", { skip: systemIsMissing() }, () => {
  const ending = new AsyncDisposableStack();
  let folder: string;
  let certificates: Certificates;
  let restate: Restate;
  let gateway: Serving;
  let worker: Serving;
  let config: Record<string, Record<string, unknown>>;

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "bowline-serve-"));
    ending.defer(() => rmSync(folder, { recursive: true, force: true }));
    certificates = await createCertificates(join(folder, "certificates"));
    const { ca, cert, key } = certificates;
    const identity = await createIdentity(folder);
    const [database = 0, endpoint = 0, port = 0, checks = 0] = await freePorts(4);
    restate = ending.use(await startRestate({ folder, identityKey: identity.file }));
    const nats = ending.use(
      await startNats(
        folder,
        [
          ["--user", "ada", "--pass", NATS_PASSWORD],
          ["--tls", "--tlscert", cert, "--tlskey", key],
        ].flat(),
      ),
    );
    const access = ["hostssl all all 127.0.0.1/32 scram-sha-256", "host all all all reject"];
    const postgres = ending.use(
      await startPostgres({ port: database, tls: { cert, key }, access }),
    );
    await postgres.sql(`create role ada login password '${DATABASE_PASSWORD}'`);
    await postgres.sql("create database bowline owner ada");
    config = {
      postgres: {
        config: {
          host: "127.0.0.1",
          port: database,
          database: "bowline",
          user: "ada",
          password: "${DATABASE_PASSWORD}",
          ssl: { caFile: ca },
        },
      },
      restate: {
        ingress: restate.ingress,
        admin: restate.admin,
        worker: { port: endpoint, identityKeys: [identity.publicKey] },
      },
      nats: { servers: [nats.url], user: "ada", pass: "${NATS_PASSWORD}", tls: { caFile: ca } },
    };
    const file = configFile("cluster.json", config);
    const shared = { config: file, folder, env };
    worker = ending.use(new Serving({ ...shared, name: "worker", role: "worker", port: checks }));
    gateway = ending.use(new Serving({ ...shared, name: "gateway", role: "gateway", port }));
    await Promise.all([worker.start(), gateway.start()]);
  });
  after(() => ending.disposeAsync());

  function configFile(name: string, content: object): string {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(content));
    return file;
  }

  async function send(text: string, url = gateway.url): Promise<string> {
    const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
    const body = JSON.stringify({ sessionKey: "s", message: text });
    const accepted = await fetch(`${url}/api/chat`, { method: "POST", headers, body });
    assert.equal(accepted.status, 202, gateway.log);
    const { events } = (await accepted.json()) as { readonly events: string };
    const stream = await fetch(`${url}${events}`, { headers });
    return stream.text();
  }

  it("answers a message that a gateway takes and a worker runs", async () => {
    const events = await send("What is 6 * 7?");
    assert.match(events, /^event: chat\.final$/m);
    assert.match(events, /42/);
  });

  it("is ready, and names no address", async () => {
    for (const { url } of [gateway, worker]) {
      const response = await fetch(`${url}/ready`);
      const text = await response.text();
      assert.equal(response.status, 200, text);
      const { parts } = JSON.parse(text) as { parts: { name: string; isReady: boolean }[] };
      assert.ok(
        parts.every(({ isReady }) => isReady),
        text,
      );
      assert.doesNotMatch(text, /127\.0\.0\.1|password/);
      assert.equal((await fetch(`${url}/health`)).status, 200);
    }
    assert.equal((await fetch(`${worker.url}/api/chat`)).status, 404);
  });

  it("prints the state of all parts, as text and as JSON", async () => {
    const file = join(folder, "cluster.json");
    const text = await bowline(["cluster", "status", "--cluster", file], { folder, env });
    assert.equal(text.code, 0, text.stderr + text.stdout);
    assert.match(text.stdout, /^PostgreSQL: ready, \d+\.\d+, \d+ of 200 connections, 0 running/m);
    assert.match(text.stdout, /^Restate: ready, 1\.\d+\.\d+, 1 node\(s\), 1 deployment\(s\), 0 f/m);
    assert.match(text.stdout, /^Workers at http:\S+: 0 open run\(s\), takes new runs$/m);
    assert.match(text.stdout, /^NATS: ready, 2\./m);
    const json = await bowline(["cluster", "status", "--json", "--cluster", file], { folder, env });
    const status = JSON.parse(json.stdout) as { isReady: boolean; postgres: { runs: object } };
    assert.deepEqual([status.isReady, status.postgres.runs], [true, { queued: 0, running: 0 }]);
    for (const secret of [DATABASE_PASSWORD, NATS_PASSWORD, TOKEN])
      assert.ok(!`${text.stdout}${json.stdout}${gateway.log}${worker.log}`.includes(secret));
  });

  /** The status with one part of the file changed. */
  async function statusWith(part: string, change: object, variables = env): Promise<Ran> {
    const file = configFile("changed.json", { ...config, [part]: { ...config[part], ...change } });
    return bowline(["cluster", "status", "--cluster", file], { folder, env: variables });
  }

  it("says which part refuses a password or a certificate, and ends with 1", async () => {
    const { otherCa } = certificates;
    const database = (config.postgres as { readonly config: object }).config;
    const wrong = {
      ...env,
      DATABASE_PASSWORD: "another-password",
      NATS_PASSWORD: "another-password",
    };
    const passwords = await statusWith("postgres", {}, wrong);
    assert.equal(passwords.code, 1);
    assert.match(passwords.stdout, /^PostgreSQL: not ready: .*password authentication failed/m);
    assert.match(passwords.stdout, /^NATS: not ready: .*Authorization Violation/m);
    const authority = await statusWith("nats", { tls: { caFile: otherCa } });
    assert.match(authority.stdout, /^NATS: not ready: .*certificate/m);
    const stranger = await statusWith("postgres", {
      config: { ...database, ssl: { caFile: otherCa } },
    });
    assert.match(stranger.stdout, /^PostgreSQL: not ready: .*certificate/m);
    const plain = await statusWith("postgres", { config: { ...database, ssl: false } });
    assert.match(plain.stdout, /^PostgreSQL: not ready: .*no encryption/m);
  });

  it("refuses requests that Restate did not sign with the worker's key", async () => {
    const { port } = (config.restate as { readonly worker: { readonly port: number } }).worker;
    const session = connect(`http://127.0.0.1:${port}`);
    const stream = session.request({ ":path": "/discover", accept: "application/json" });
    const status = await new Promise((resolve) =>
      stream.once("response", (headers) => resolve(headers[":status"])),
    );
    session.destroy();
    assert.equal(status, 401);
  });

  it("does not start without a token, or with a password that is refused", async () => {
    const file = join(folder, "cluster.json");
    const start = (variables: Record<string, string>): Promise<Ran> =>
      bowline(["serve", "--cluster", file, "--role", "gateway", "--port", "0"], {
        folder,
        env: variables,
      });
    const { BOWLINE_TOKEN: _, ...without } = env;
    const tokenless = await start(without);
    assert.equal(tokenless.code, 1);
    assert.equal(
      tokenless.stderr,
      "bowline: All gateways of a cluster need the same token. Set BOWLINE_TOKEN.\n",
    );
    const refused = await start({ ...env, DATABASE_PASSWORD: "another-password" });
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^bowline: .*password authentication failed[^\n]*\n$/);
    const nats = await start({ ...env, NATS_PASSWORD: "another-password" });
    assert.match(
      nats.stderr,
      /^bowline: NATS at [\d.:, ]+ cannot be reached: Authorization Violation\.\n$/,
    );
  });

  it("answers 503 at /ready after SIGTERM, then closes and ends with 0", async () => {
    const file = configFile("drain.json", { ...config, drain: { notReadyMs: 1500 } });
    const [port = 0] = await freePorts(1);
    await using second = new Serving({
      name: "second",
      role: "gateway",
      config: file,
      port,
      folder,
      env,
    });
    await second.start();
    const ended = second.terminate();
    const statuses = new Set<number>();
    for (let asked = 0; asked < 5; asked++) {
      await setTimeout(100);
      statuses.add((await fetch(`${second.url}/ready`)).status);
    }
    assert.equal(statuses.has(503), true);
    assert.equal(await ended, true);
    assert.match(second.log, /Draining\. Other processes of the cluster continue the runs\.\n$/);
    await assert.rejects(fetch(`${second.url}/ready`));
  });

  it("ends a run on the workers that began it, beside those of a new version", async () => {
    const client = new GatewayClient({ url: gateway.url, token: TOKEN });
    ending.defer(() => client.close());
    const waiting = await client.send({ sessionKey: "rollout", message: 'write "one" to one.txt' });
    const pending = async () => (await client.request("approvals.list", {})).approvals;
    while ((await pending()).length === 0) await setTimeout(100);
    const restateOptions = config.restate as { readonly worker: object };
    const [endpoint = 0, port = 0] = await freePorts(2);
    const file = configFile("next.json", {
      ...config,
      restate: { ...restateOptions, worker: { ...restateOptions.worker, port: endpoint } },
    });
    await using next = new Serving({
      name: "next",
      role: "worker",
      config: file,
      port,
      folder,
      env,
    });
    await next.start();
    const workers = async (): Promise<string[]> => {
      const { stdout } = await bowline(["cluster", "status", "--cluster", file], { folder, env });
      return stdout.split("\n").filter((line) => line.startsWith("Workers at "));
    };
    const [fresh = "", old = ""] = await workers();
    assert.match(fresh, new RegExp(`:${endpoint}/: 0 open run\\(s\\), takes new runs$`));
    assert.match(old, /: 1 open run\(s\), takes no new runs$/);
    const [approval] = await pending();
    const { approvalId = "" } = approval ?? {};
    await client.request("approvals.resolve", { approvalId, decision: "allow-once" });
    assert.equal((await waiting.result()).end.event, "chat.final");
    assert.match((await workers())[1] ?? "", /: 0 open run\(s\), takes no new runs$/);
    assert.equal(await worker.terminate(), true);
    assert.match(worker.log, /Draining\. Other processes of the cluster continue the runs\.\n$/);
    const again = await client.send({ sessionKey: "rollout", message: "What is 6 * 7?" });
    assert.equal((await again.result()).end.event, "chat.final");
  });
});

/** `bowline serve --cluster` over servers that know their clients by certificates and signed tokens. */
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { freePorts } from "../../test/support/free-ports.ts";
import { startPostgres } from "../../test/support/postgres.ts";
import { createCertificates, createClientCertificate } from "../kit/certificates.ts";
import { startNats } from "../kit/nats.ts";
import { createNatsAuthority, type NatsAuthority } from "../kit/nats-authority.ts";
import { startRestate } from "../kit/restate.ts";
import { bowline, Serving, type Ran } from "../kit/serving.ts";
import { systemIsMissing } from "../kit/system.ts";
import { TlsProxy } from "../kit/tls-proxy.ts";

const TOKEN = "a-token-of-the-gateways";
const AUTHORIZATION = "Bearer the-token-of-the-proxy";

interface Config {
  readonly postgres: { readonly config: Readonly<Record<string, unknown>> };
  readonly nats: Readonly<Record<string, unknown>>;
  readonly restate: Readonly<Record<string, unknown>>;
}

describe(
  "a cluster's servers that demand certificates of clients",
  {
    skip: systemIsMissing(),
  },
  () => {
    const ending = new AsyncDisposableStack();
    let folder: string;
    let authority: NatsAuthority;
    let env: Readonly<Record<string, string>>;
    let config: Config;
    let strange: { readonly certFile: string; readonly keyFile: string };

    before(async () => {
      folder = mkdtempSync(join(tmpdir(), "bowline-clients-"));
      ending.defer(() => rmSync(folder, { recursive: true, force: true }));
      const certificates = join(folder, "certificates");
      const { ca, cert, key } = await createCertificates(certificates);
      const ada = await createClientCertificate(certificates, "ada", "ca");
      const other = await createClientCertificate(certificates, "ada", "other");
      strange = { certFile: other.cert, keyFile: other.key };
      authority = await createNatsAuthority(folder);
      env = { BOWLINE_TOKEN: TOKEN, NODE_EXTRA_CA_CERTS: ca };
      const [database = 0, endpoint = 0] = await freePorts(2);
      const server = ending.use(await startRestate({ folder }));
      const proxyOf = async (to: string): Promise<string> => {
        const options = { to, tls: { cert, key }, authorization: AUTHORIZATION };
        return ending.use(await TlsProxy.start(options)).url;
      };
      const nats = ending.use(
        await startNats(
          folder,
          [
            ["--config", authority.configFile],
            ["--tlsverify", "--tlscacert", ca, "--tlscert", cert, "--tlskey", key],
          ].flat(),
        ),
      );
      // The common name of the certificate has to be the user's name.
      const access = ["hostssl all all 127.0.0.1/32 cert", "host all all all reject"];
      const postgres = ending.use(
        await startPostgres({ port: database, tls: { cert, key, clientCa: ca }, access }),
      );
      await postgres.sql("create role ada login");
      await postgres.sql("create role grace login");
      await postgres.sql("create database bowline owner ada");
      const tls = { caFile: ca, certFile: ada.cert, keyFile: ada.key };
      config = {
        postgres: {
          config: { host: "127.0.0.1", port: database, database: "bowline", user: "ada", ssl: tls },
        },
        restate: {
          ingress: await proxyOf(server.ingress),
          admin: await proxyOf(server.admin),
          headers: { authorization: AUTHORIZATION },
          worker: { port: endpoint },
        },
        nats: { servers: [nats.url], credentialsFile: authority.credentials, tls },
      };
    });
    after(() => ending.disposeAsync());

    function configFile(name: string, content: object): string {
      const file = join(folder, name);
      writeFileSync(file, JSON.stringify(content));
      return file;
    }

    function status(changed: Partial<Config>): Promise<Ran> {
      const file = configFile("changed.json", { ...config, ...changed });
      return bowline(["cluster", "status", "--cluster", file], { folder, env });
    }

    it("are used with a certificate, with credentials of NATS, and behind a proxy", async () => {
      const [port = 0] = await freePorts(1);
      const file = configFile("cluster.json", config);
      await using node = new Serving({
        name: "node",
        role: "both",
        config: file,
        folder,
        env,
        port,
      });
      await node.start();
      const headers = { authorization: `Bearer ${TOKEN}`, "content-type": "application/json" };
      const body = JSON.stringify({ sessionKey: "s", message: "What is 6 * 7?" });
      const accepted = await fetch(`${node.url}/api/chat`, { method: "POST", headers, body });
      assert.equal(accepted.status, 202, node.log);
      const { events } = (await accepted.json()) as { readonly events: string };
      const said = await (await fetch(`${node.url}${events}`, { headers })).text();
      assert.match(said, /^event: chat\.final$/m);
      assert.match(said, /42/);
      const shown = await status({});
      assert.equal(shown.code, 0, shown.stdout + shown.stderr);
      const seed = /-----BEGIN USER NKEY SEED-----\s+(\S+)/.exec(
        readFileSync(authority.credentials, "utf8"),
      )?.[1];
      const printed = `${node.log}${shown.stdout}${shown.stderr}`;
      assert.ok(seed !== undefined && !printed.includes(seed) && !printed.includes(AUTHORIZATION));
    });

    it("refuse a client without a certificate, and one of another authority or of another user", async () => {
      const { config: database } = config.postgres;
      const { ssl, ...plain } = { ...database, ssl: database["ssl"] as object };
      const { caFile } = ssl as { readonly caFile: string };
      const withSsl = (given: object): Partial<Config> => ({
        postgres: { config: { ...plain, ssl: { caFile, ...given } } },
        nats: { ...config.nats, tls: { caFile, ...given } },
      });
      for (const given of [{}, strange]) {
        const { code, stdout } = await status(withSsl(given));
        assert.equal(code, 1, stdout);
        assert.match(stdout, /^PostgreSQL: not ready: /m);
        assert.match(stdout, /^NATS: not ready: /m);
      }
      const { stdout } = await status({ postgres: { config: { ...database, user: "grace" } } });
      assert.match(stdout, /^PostgreSQL: not ready: .*certificate authentication failed/m);
    });

    it("are not reached through a proxy without its header", async () => {
      const { code, stdout } = await status({ restate: { ...config.restate, headers: {} } });
      assert.equal(code, 1);
      assert.match(stdout, /^Restate: not ready: .*401/m);
    });

    it("refuse credentials of an account that they do not know", async () => {
      const nats = { ...config.nats, credentialsFile: authority.strange };
      const { code, stdout } = await status({ nats });
      assert.equal(code, 1);
      assert.match(stdout, /^NATS: not ready: .*Authorization Violation/m);
      assert.doesNotMatch(stdout, /SEED|BEGIN NATS/);
    });
  },
);

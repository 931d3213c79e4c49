/** The container files of examples/cluster, held against the command and each other. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { parse, parseAllDocuments } from "yaml";
import { parseServeOptions } from "../../src/cli/serve-options.ts";
import { DEFAULT_PORT } from "../../src/gateway/server/server.ts";
import { readClusterConfig } from "../../src/serve/cluster/read-config.ts";
import { temporary } from "../command.ts";

const folder = join(import.meta.dirname, "../../../../examples/cluster");
const textOf = (name: string): string => readFileSync(join(folder, name), "utf8");
const env = { DATABASE_PASSWORD: "d", NATS_PASSWORD: "n", RESTATE_IDENTITY_KEY: "publickeyv1_x" };

/** The arguments after `bowline serve` of the Dockerfile. */
function entryPoint(): string[] {
  const [, line = ""] = /^ENTRYPOINT (\[.*\])$/m.exec(textOf("Dockerfile")) ?? [];
  const [program, command, ...args] = JSON.parse(line) as string[];
  assert.deepEqual([program, command], ["node_modules/.bin/bowline", "serve"]);
  return args;
}

interface Container {
  readonly args: string[];
  readonly ports: { readonly name: string; readonly containerPort: number }[];
  readonly envFrom: unknown[];
  readonly readinessProbe: { readonly httpGet: { readonly path: string; readonly port: string } };
  readonly livenessProbe: Container["readinessProbe"];
}

interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data: Record<string, string>;
  readonly spec: {
    readonly selector: Record<string, string> & { readonly matchLabels: Record<string, string> };
    readonly ports: { readonly port: number; readonly targetPort: string }[];
    readonly template: {
      readonly metadata: { readonly labels: Record<string, string> };
      readonly spec: {
        readonly terminationGracePeriodSeconds: number;
        readonly containers: readonly [Container];
      };
    };
  };
}

describe("the compose file", () => {
  const compose = parse(textOf("compose.yaml"), { merge: true }) as {
    readonly services: Record<string, { readonly command?: string[]; readonly image?: string }>;
  };

  it("starts each role with options that the command takes", () => {
    const role = (name: string) =>
      parseServeOptions([...entryPoint(), ...(compose.services[name]?.command ?? [])]);
    assert.equal(role("workers").role, "worker");
    const gateway = role("gateways");
    assert.deepEqual(
      [gateway.role, gateway.exposed, gateway.cluster, gateway.trustProxy],
      ["gateway", true, "cluster.json", ["10.77.0.0/24"]],
    );
  });

  it("has a service for each host of the file, and pins each image", async () => {
    const { config } = await readClusterConfig(join(folder, "cluster.json"), env);
    const { postgres, restate, nats } = config;
    const hosts = [
      postgres.config?.host,
      ...[restate.ingress, restate.admin, restate.worker?.url, ...(nats.servers ?? [])].map(
        (url) => new URL(url ?? "").hostname,
      ),
    ];
    for (const host of hosts) assert.ok(Object.hasOwn(compose.services, host ?? ""), host);
    for (const { image } of Object.values(compose.services))
      if (image !== undefined) assert.match(image, /:\d+\.\d+/);
  });
});

describe("the manifests of Kubernetes", () => {
  const resources = parseAllDocuments(textOf("kubernetes.yaml")).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as Resource;
  });
  const ofKind = (kind: string): Resource[] => resources.filter((one) => one.kind === kind);
  const deployment = (name: string): Resource =>
    ofKind("Deployment").find(({ metadata }) => metadata.name === name) as Resource;

  /** The file in the ConfigMap, as the command reads it. */
  async function config() {
    await using place = await temporary();
    await writeFile(join(place.path, "ca.crt"), "-----CA-----");
    const text = (ofKind("ConfigMap")[0]?.data["cluster.json"] ?? "").replaceAll(
      "/etc/bowline/ca",
      place.path,
    );
    await writeFile(join(place.path, "cluster.json"), text);
    return (await readClusterConfig(join(place.path, "cluster.json"), env)).config;
  }

  it("start each role with options that the command takes, and the mounted file", () => {
    for (const [name, role] of [
      ["bowline-workers-v1", "worker"],
      ["bowline-gateways", "gateway"],
    ] as const) {
      const [container] = deployment(name).spec.template.spec.containers;
      const options = parseServeOptions([...entryPoint(), ...container.args]);
      assert.deepEqual(
        [options.role, options.cluster, options.exposed],
        [role, "/etc/bowline/cluster.json", true],
      );
    }
  });

  it("lead Restate to the workers: service, selector, port and address agree", async () => {
    const { worker } = (await config()).restate;
    const url = new URL(worker?.url ?? "");
    const service = ofKind("Service").find(({ metadata }) => metadata.name === url.hostname);
    const { labels } = deployment("bowline-workers-v1").spec.template.metadata;
    assert.deepEqual(service?.spec.selector, labels);
    assert.equal(service?.spec.ports[0]?.port, Number(url.port));
    const [container] = deployment("bowline-workers-v1").spec.template.spec.containers;
    const { containerPort } = container.ports.find(({ name }) => name === "restate") ?? {};
    assert.equal(containerPort, worker?.port);
    assert.equal(worker?.host, "0.0.0.0");
  });

  it("probe the port of the command, and leave time to drain", async () => {
    const { graceMs = 0, notReadyMs = 0 } = (await config()).drain ?? {};
    for (const { metadata, spec } of ofKind("Deployment")) {
      const [container] = spec.template.spec.containers;
      const http = container.ports.find(({ name }) => name === "http");
      assert.equal(http?.containerPort, DEFAULT_PORT, metadata.name);
      assert.deepEqual(container.readinessProbe.httpGet, { path: "/ready", port: "http" });
      assert.deepEqual(container.livenessProbe.httpGet, { path: "/health", port: "http" });
      const needed = Math.max(graceMs, notReadyMs) / 1000 + 10;
      assert.ok(spec.template.spec.terminationGracePeriodSeconds >= needed, metadata.name);
    }
  });
});

import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { describe, it } from "node:test";
import { createPage } from "../../src/page/node/page.ts";
import { importMap, mainAddress, pageFiles } from "../../src/page/node/page-files.ts";
import { importsOf } from "../../../../scripts/import-graph.ts";
import { gatewayWith } from "../gateway/gateway.ts";

type ImportMap = { readonly imports: Readonly<Record<string, string>> };

const page = createPage();
const get = (path: string, init: RequestInit = {}): Promise<Response> =>
  page(new Request(`http://127.0.0.1:18789${path}`, init));

describe("the page's files", () => {
  it("are a document and the modules, libraries and styles it names, each with its type", async () => {
    const text = await (await get("/")).text();
    const files = [...pageFiles().keys()];
    // Resolved relative to the document, because a proxy may serve it under a path prefix.
    const { imports } = JSON.parse(
      /<script type="importmap">(.*)<\/script>/.exec(text)?.[1] ?? "",
    ) as ImportMap;
    const named = [...text.matchAll(/(?:href|src)="([^"]+)"/g)].map(([, path = ""]) => path);
    const paths = [...named, ...Object.values(imports)].map(
      (path) => new URL(path, "http://page/agents/").pathname,
    );
    assert.deepEqual(
      [...new Set(paths)].toSorted(),
      files.map((path) => `/agents${path}`).toSorted(),
    );
    for (const path of files) {
      const response = await get(path);
      assert.equal(response.status, 200, path);
      const type = /\.(\w+)$/.exec(path)?.[1];
      const expected = { css: "text/css", svg: "image/svg+xml" }[type ?? ""] ?? "text/javascript";
      assert.equal(response.headers.get("content-type"), `${expected}; charset=utf-8`, path);
      assert.ok((await response.text()).length > 0, path);
    }
  });

  it("are exactly those reachable from the main module", async () => {
    const reached = new Set([mainAddress]);
    for (const path of reached) {
      const code = await (await get(path)).text();
      // Libraries are minified, and the import reader does not parse them. Their imports are bare
      // names, all in the map.
      if (path.startsWith("/assets/library/")) continue;
      for (const specifier of importsOf(code)) {
        const target = importMap[specifier] ?? new URL(specifier, `http://page${path}`).pathname;
        assert.ok(
          specifier.startsWith(".") || specifier in importMap,
          `${path} imports ${specifier}`,
        );
        reached.add(target);
      }
    }
    reached.add(importMap.htm as string); // htm/preact imports it
    const scripts = [...pageFiles()]
      .filter(([, { type }]) => type === "text/javascript")
      .map(([path]) => path);
    assert.deepEqual([...reached].toSorted(), scripts.toSorted());
  });

  for (const path of [
    "/index.html",
    "/assets",
    "/assets/",
    "/assets/page/node/page.ts",
    "/assets/gateway/serve.ts",
    "/assets/page/../../package.json",
    "/assets/page/%2e%2e/%2e%2e/package.json",
    "/..%2f..%2fpackage.json",
    "/assets/page/main.ts%00",
    "/assets/page/main.ts/",
    "//assets/page/main.ts",
    "/package.json",
    "/.env",
    "/token",
    "/constructor",
    "/__proto__",
  ])
    it(`do not include ${path}`, async () => assert.equal((await get(path)).status, 404));

  it("accept GET and HEAD only", async () => {
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const response = await get("/", { method });
      assert.deepEqual(
        [response.status, response.headers.get("allow")],
        [405, "GET, HEAD"],
        method,
      );
    }
    assert.equal(await (await get("/", { method: "HEAD" })).text(), "");
  });

  it("are revalidated by their ETag, with 304 when unchanged", async () => {
    const first = await get(mainAddress);
    const tag = first.headers.get("etag") ?? "";
    assert.match(tag, /^"[\w-]{20,}"$/);
    assert.equal(first.headers.get("cache-control"), "no-cache");
    const second = await get(mainAddress, { headers: { "if-none-match": tag } });
    assert.deepEqual([second.status, await second.text()], [304, ""]);
    assert.equal((await get(mainAddress, { headers: { "if-none-match": '"other"' } })).status, 200);
  });

  it("name no other server", async () => {
    for (const [path, { url }] of pageFiles()) {
      if (path.startsWith("/assets/library/")) continue;
      const text = await readFile(url, "utf8");
      const addresses = [...text.matchAll(/https?:\/\/[\w.-]+/g)].map(([address]) => address);
      assert.deepEqual(
        addresses.filter((address) => !address.endsWith("//www.w3.org")),
        [],
        path,
      );
    }
  });
});

describe("the page's policy", () => {
  it("allows only the server's own scripts, and the import map by its hash", async () => {
    const response = await get("/");
    const policy = response.headers.get("content-security-policy") ?? "";
    const directives = new Map(
      policy.split("; ").map((part) => [part.split(" ")[0], part.split(" ").slice(1).join(" ")]),
    );
    const [, map = ""] =
      /<script type="importmap">(.*?)<\/script>/.exec(await response.text()) ?? [];
    assert.deepEqual(Object.fromEntries(directives), {
      "default-src": "'none'",
      "script-src": `'self' 'sha256-${createHash("sha256").update(map).digest("base64")}'`,
      "style-src": "'self'",
      "connect-src": "'self'",
      "img-src": "'self'",
      "base-uri": "'none'",
      "form-action": "'none'",
      "frame-ancestors": "'none'",
      "require-trusted-types-for": "'script'",
      "trusted-types": "dompurify",
    });
  });

  it("is sent with every response, also with a 404", async () => {
    for (const path of ["/", mainAddress, "/nothing"]) {
      const { headers } = await get(path);
      for (const [name, value] of [
        ["x-content-type-options", "nosniff"],
        ["referrer-policy", "no-referrer"],
        ["cross-origin-opener-policy", "same-origin"],
        ["cross-origin-resource-policy", "same-origin"],
      ] as const)
        assert.equal(headers.get(name), value, `${path} ${name}`);
      assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'/, path);
    }
  });

  it("is sent by a gateway that serves the page, and that refuses other origins", async () => {
    await using server = await gatewayWith([], { page });
    const response = await fetch(`${server.gateway.url}/`);
    assert.match(response.headers.get("content-security-policy") ?? "", /script-src 'self'/);
    assert.match(await response.text(), /<div id="app">/);
    const foreign = await fetch(`${server.gateway.url}/`, {
      headers: { origin: "https://evil.example" },
    });
    assert.equal(foreign.status, 403);
  });
});

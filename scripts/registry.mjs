// Starts a registry on loopback with one packed package, for an `npm install` of a package that
// depends on it.
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Resolves to the registry's `url` and its `close()`. */
export async function startRegistry(file) {
  const tarball = await readFile(file);
  const { stdout } = await execute("tar", ["-xzOf", file, "package/package.json"]);
  const manifest = JSON.parse(stdout);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url);
    if (path === `${root}/${manifest.name}`) response.end(JSON.stringify(packument()));
    else if (path === `${root}/package.tgz`) response.end(tarball);
    else response.writeHead(404).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  // npm caches responses by URL, and a later server may have the same port.
  const root = `/${randomUUID()}`;
  const url = `http://127.0.0.1:${server.address().port}${root}`;
  return { url, close: () => server.close() };

  function packument() {
    const { name, version } = manifest;
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: `${url}/package.tgz`, integrity };
    return {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist } },
    };
  }
}

// Starts a registry on loopback with packed packages, for an `npm install` of a package that depends
// on them.
import { execFile } from "node:child_process";
import { createHash, randomUUID } from "node:crypto";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { promisify } from "node:util";

const execute = promisify(execFile);

/** Resolves to the registry's `url` and its `close()`. */
export async function startRegistry(...files) {
  const packages = await Promise.all(files.map(readPackage));
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url);
    const listed = packages.find(({ manifest }) => path === `${root}/${manifest.name}`);
    const packed = packages.find(({ manifest }) => path === tarballPath(manifest));
    if (listed !== undefined) response.end(JSON.stringify(packument(listed)));
    else if (packed !== undefined) response.end(packed.tarball);
    else response.writeHead(404).end("{}");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  // npm caches responses by URL, and a later server may have the same port.
  const root = `/${randomUUID()}`;
  const origin = `http://127.0.0.1:${server.address().port}`;
  return { url: `${origin}${root}`, close: () => server.close() };

  function tarballPath({ name }) {
    return `${root}/${name}.tgz`;
  }

  function packument({ manifest, tarball }) {
    const { name, version } = manifest;
    const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
    const dist = { tarball: `${origin}${tarballPath(manifest)}`, integrity };
    return {
      name,
      "dist-tags": { latest: version },
      versions: { [version]: { ...manifest, dist } },
    };
  }
}

async function readPackage(file) {
  const tarball = await readFile(file);
  const { stdout } = await execute("tar", ["-xzOf", file, "package/package.json"]);
  return { manifest: JSON.parse(stdout), tarball };
}

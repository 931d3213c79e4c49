// Finds resources that a built page would load from another host: scripts, styles, images, fonts,
// requests. Ordinary links are allowed.
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";

const loads = {
  html: [
    /<(?:script|img|iframe|source|audio|video|embed|object)\b[^>]*?\b(?:src|srcset|data)=["']?(?:https?:)?\/\/[^"'\s>]+/gi,
    /<link\b[^>]*?\bhref=["']?(?:https?:)?\/\/[^"'\s>]+/gi,
  ],
  css: [/url\(\s*["']?(?:https?:)?\/\/[^)"']+/gi, /@import\s+["'](?:https?:)?\/\/[^"']+/gi],
  js: [
    /\b(?:import|fetch|importScripts|sendBeacon)\(\s*["'`](?:https?:)?\/\/[^"'`]+/g,
    /\bfrom\s*["'](?:https?:)?\/\/[^"']+/g,
    /\bnew (?:WebSocket|EventSource|Worker|URL)\(\s*["'`](?:https?|wss?):\/\/[^"'`]+/g,
    /\.(?:src|href)\s*=\s*["'`](?:https?:)?\/\/[^"'`]+/g,
  ],
};

/** Returns one line for each thing that `folder` would load from elsewhere. */
export function foreignLoads(folder) {
  return Object.entries(loads).flatMap(([extension, patterns]) =>
    globSync(`**/*.${extension}`, { cwd: folder }).flatMap((file) => {
      const text = readFileSync(join(folder, file), "utf8");
      return patterns.flatMap((pattern) =>
        [...text.matchAll(pattern)].map(([found]) => `${file}: ${found.slice(0, 200)}`),
      );
    }),
  );
}

/** Serves the chat page of `bowline serve`: one document and its files. */
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import nodeModule from "node:module";
import { contentSecurityPolicy, document } from "./document.ts";
import { isFromSource, pageFiles, type PageFile } from "./page-files.ts";

interface Body {
  readonly text: string;
  readonly type: string;
  readonly tag: string;
}

const headers: Readonly<Record<string, string>> = {
  "content-security-policy": contentSecurityPolicy,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  // Cache, but revalidate: after an update, all files must be of one version.
  "cache-control": "no-cache",
};

/**
 * Creates a handler for `/` and the page's files. Links are relative, so a proxy may serve the page
 * under any path and strip it. The page contains no secrets: data comes over the socket, which
 * needs the token.
 */
export function createPage(): (request: Request) => Promise<Response> {
  const files = pageFiles();
  const bodyOf = createReader();
  const start = toBody(document, "text/html");
  return async (request) => {
    const path = new URL(request.url).pathname;
    const file = files.get(path);
    if (file === undefined && path !== "/")
      return new Response("Not found.", { status: 404, headers });
    if (request.method !== "GET" && request.method !== "HEAD")
      return new Response("Only GET and HEAD are allowed.", {
        status: 405,
        headers: { ...headers, allow: "GET, HEAD" },
      });
    const { text, type, tag } = file === undefined ? start : await bodyOf(file);
    if (request.headers.get("if-none-match") === tag)
      return new Response(null, { status: 304, headers: { ...headers, etag: tag } });
    return new Response(request.method === "HEAD" ? null : text, {
      headers: { ...headers, etag: tag, "content-type": `${type}; charset=utf-8` },
    });
  };
}

/**
 * Creates a reader that caches files. From source, each file is read again, since it may have been
 * edited.
 */
function createReader(): (file: PageFile) => Promise<Body> {
  const kept = new Map<PageFile, { readonly source: string; readonly body: Body }>();
  return async (file) => {
    const before = kept.get(file);
    if (before !== undefined && !isFromSource) return before.body;
    const source = await readFile(file.url, "utf8");
    if (source === before?.source) return before.body;
    const isTyped = file.url.pathname.endsWith(".ts");
    const body = toBody(isTyped ? nodeModule.stripTypeScriptTypes(source) : source, file.type);
    kept.set(file, { source, body });
    return body;
  };
}

function toBody(text: string, type: string): Body {
  return {
    text,
    type,
    tag: `"${createHash("sha256").update(text).digest("base64url").slice(0, 27)}"`,
  };
}

/** The HTML document and its content security policy. */
import { createHash } from "node:crypto";
import {
  iconAddress,
  importMap,
  mainAddress,
  moduleAddresses,
  styleAddresses,
} from "./page-files.ts";

/** Makes an address relative to the document, since a proxy may serve it under a path. */
const fromHere = (address: string): string => `.${address}`;

const libraries = Object.entries(importMap).map(
  ([name, address]) => [name, fromHere(address)] as const,
);
const map = JSON.stringify({ imports: Object.fromEntries(libraries) });

const preloads = [...Object.values(importMap), ...moduleAddresses]
  .map((address) => `<link rel="modulepreload" href="${fromHere(address)}">`)
  .join("\n");

const sheets = styleAddresses
  .map((address) => `<link rel="stylesheet" href="${fromHere(address)}">`)
  .join("\n");

export const document: string = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#16181b">
<title>Bowline</title>
<link rel="icon" href="${fromHere(iconAddress)}" type="image/svg+xml">
${sheets}
<script type="importmap">${map}</script>
${preloads}
<script type="module" src="${fromHere(mainAddress)}"></script>
</head>
<body>
<div id="app"></div>
<noscript>This page needs JavaScript. The same agents answer in a terminal: bowline run --help</noscript>
</body>
</html>
`;

/**
 * Allows scripts from this server and the import map (by hash), and connections to this server
 * only. Allows no other images (those to send are painted on a canvas), frames, forms or fonts.
 * Only DOMPurify's Trusted Types policy can turn text into markup.
 */
export const contentSecurityPolicy: string = [
  "default-src 'none'",
  `script-src 'self' 'sha256-${createHash("sha256").update(map).digest("base64")}'`,
  "style-src 'self'",
  "connect-src 'self'",
  `img-src 'self'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types dompurify",
].join("; ");

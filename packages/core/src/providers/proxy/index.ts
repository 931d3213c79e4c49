/**
 * Model calls through your own server: `streamProxy` in the page, `createStreamProxyHandler` on the
 * server.
 */
export { streamProxy } from "./client.ts";
export type { ProxyStreamOptions } from "./client.ts";
export { createStreamProxyHandler } from "./handler.ts";
export type { ProxyHandlerOptions, ProxyRefusal } from "./handler.ts";
export type { ProxyEvent } from "./events.ts";

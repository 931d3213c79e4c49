/**
 * The part of the address after `#`, which browsers do not send to servers: a token, once, and the
 * shown session.
 */
export interface Address {
  readonly token?: string;
  readonly sessionKey?: string;
}

export function parseAddress(hash: string): Address {
  // Keep pluses: tokens are written into links unencoded, and Base64 contains pluses.
  const fields = new URLSearchParams(hash.replace(/^#/, "").replaceAll("+", "%2B"));
  const [token, sessionKey] = [fields.get("token")?.trim() ?? "", fields.get("session") ?? ""];
  return {
    ...(token !== "" && { token }),
    ...(sessionKey !== "" && sessionKey.length <= 512 && { sessionKey }),
  };
}

/** Never contains the token, which would stay in the browser's history. */
export function formatAddress(sessionKey: string): string {
  return `#session=${encodeURIComponent(sessionKey)}`;
}

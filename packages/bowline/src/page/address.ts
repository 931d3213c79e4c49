/**
 * What the address says, behind the `#`, which is never sent to a server: the token, once, and the
 * session that is shown.
 */
export interface Address {
  readonly token?: string;
  readonly sessionKey?: string;
}

export function parseAddress(hash: string): Address {
  // A plus is one: tokens are written into links as they are, and those in Base64 have some.
  const fields = new URLSearchParams(hash.replace(/^#/, "").replaceAll("+", "%2B"));
  const [token, sessionKey] = [fields.get("token")?.trim() ?? "", fields.get("session") ?? ""];
  return {
    ...(token !== "" && { token }),
    ...(sessionKey !== "" && sessionKey.length <= 512 && { sessionKey }),
  };
}

/** Never with a token: it would stay in the history of the browser. */
export function formatAddress(sessionKey: string): string {
  return `#session=${encodeURIComponent(sessionKey)}`;
}

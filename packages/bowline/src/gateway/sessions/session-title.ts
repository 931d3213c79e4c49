/** Returns the title that a session without one gets from its key when it is reset. */
export function titleFrom(sessionKey: string): string {
  return sessionKey.slice(0, 200).replace(/\p{Surrogate}$/u, "");
}

/**
 * Advice for a person when a server refuses a key: which variable was read, or would have been.
 * Never contains the key.
 */
import { vendors, type ErrorInfo } from "@bowline/core";

export interface KeySource {
  /** The environment variable. Absent if none was looked for. */
  readonly variable?: string;
  /** Whether the variable held a key, which was then sent. */
  readonly isSet: boolean;
  /** The server's address, which may identify the vendor. */
  readonly baseUrl?: string;
}

export function sourceOf(variable: string | undefined, apiKey: string | undefined): KeySource {
  return { isSet: apiKey !== undefined, ...(variable !== undefined && { variable }) };
}

const another = "or name another variable with --api-key-env";

/** Returns one or two sentences. */
export function keyAdvice({ variable, isSet, baseUrl }: KeySource): string {
  if (variable === undefined) {
    const usual = variableAt(baseUrl);
    const name = usual === undefined ? "<name>, the environment variable that holds it" : usual;
    return `No key was sent. Pass one with --api-key-env ${name}.`;
  }
  return isSet
    ? `The key came from the variable ${variable}. Set another key there, ${another}.`
    : `No key was sent. Set ${variable}, ${another}.`;
}

/**
 * Returns true if a server refused a request because of a missing or wrong key. Some use status 400
 * or 403.
 */
export function isAboutKey({ code, message }: ErrorInfo): boolean {
  if (code === "authentication_failed" || code === "permission_denied") return true;
  return code === "invalid_request" && /\bapi[ _-]?key\b/i.test(message);
}

/** Returns the key variable of the vendor at this address. */
function variableAt(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined;
  const { origin } = new URL(baseUrl);
  return vendors.find((row) => row.baseUrl !== undefined && new URL(row.baseUrl).origin === origin)
    ?.keyVariable;
}

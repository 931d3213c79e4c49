/**
 * What a person is told of keys when a server wants another: which variable was read, or would have
 * been. Never the key.
 */
import { vendors, type ErrorInfo } from "@bowline/core";

export interface KeySource {
  /** Of the environment. Absent where none was looked for. */
  readonly variable?: string;
  /** Whether there was a key in it, which is sent then. */
  readonly isSet: boolean;
  /** Whose address it is may say more. */
  readonly baseUrl?: string;
}

export function sourceOf(variable: string | undefined, apiKey: string | undefined): KeySource {
  return { isSet: apiKey !== undefined, ...(variable !== undefined && { variable }) };
}

const another = "or name another variable with --api-key-env";

/** A sentence or two. */
export function keyAdvice({ variable, isSet, baseUrl }: KeySource): string {
  if (variable === undefined) {
    const usual = variableAt(baseUrl);
    const name = usual === undefined ? "<name>, the environment variable that holds it" : usual;
    return `No key was sent: give one by --api-key-env ${name}.`;
  }
  return isSet
    ? `The key came from the variable ${variable}: set another there, ${another}.`
    : `No key was sent: set ${variable}, ${another}.`;
}

/** Whether a server refused for want of a key, or of a better one. Some say so with 400 or 403. */
export function isAboutKey({ code, message }: ErrorInfo): boolean {
  if (code === "authentication_failed" || code === "permission_denied") return true;
  return code === "invalid_request" && /\bapi[ _-]?key\b/i.test(message);
}

/** The variable of the vendor that is at this address. */
function variableAt(baseUrl: string | undefined): string | undefined {
  if (baseUrl === undefined || !URL.canParse(baseUrl)) return undefined;
  const { origin } = new URL(baseUrl);
  return vendors.find((row) => row.baseUrl !== undefined && new URL(row.baseUrl).origin === origin)
    ?.keyVariable;
}

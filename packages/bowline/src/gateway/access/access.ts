/**
 * Authenticates clients, first by the given tokens, then by the hook. Counts wrong tokens per
 * address, or per network for IPv6.
 */
import type { IncomingMessage } from "node:http";
import { BowlineError, type Clock } from "@bowline/core";
import type { Scope } from "../protocol/frame.ts";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import { netOf } from "./net-of.ts";
import { FailedTries, givenTokens, scopeOf, type Tokens } from "./tokens.ts";
import { TrustedProxies } from "./trusted-proxies.ts";

/** The rights of an authenticated client. */
export interface Access {
  /** `read` allows only methods that change nothing. */
  readonly scope: Scope;
  /**
   * The prefix of the session keys that the user may access, such as `ann/`: 1 to 256 characters,
   * well-formed. End it with a separator, so that no user's prefix begins with another's. Default:
   * all sessions.
   */
  readonly sessions?: string;
  /**
   * The name of the user: 1 to 256 characters, well-formed. A function that makes agents gets it as
   * `user.id`. Default: not known.
   */
  readonly user?: string;
}

/**
 * Authenticates a client by its token. Called once for a socket, with the upgrade request, and for
 * each HTTP request. The token is empty for an HTTP request without `Authorization`, which a cookie
 * may authenticate.
 *
 * Refuses the client by returning undefined, by throwing, or by returning anything that is not an
 * {@link Access}. The client does not see a thrown error. The time limit is `authTimeoutMs`.
 */
export type Authorize = (
  token: string,
  request: IncomingMessage,
) => Access | undefined | PromiseLike<Access | undefined>;

export interface EntryOptions {
  /** One token with full access. Short for `tokens: { full: token }`. */
  readonly token?: string;
  /** One token for full access, and one for reading. Optional if `authorize` is given. */
  readonly tokens?: Tokens;
  /**
   * Authenticates clients by the application's own tokens or users. Called for every token that is
   * not one of `tokens`.
   */
  readonly authorize?: Authorize;
  /**
   * The addresses of trusted proxies (`10.0.0.7`, `10.0.0.0/8`, `::1`). Wrong tokens are then
   * counted by the address in `X-Forwarded-For`. `X-Forwarded-Prefix` is the path under which
   * clients reach the gateway. Each proxy must set both headers itself. Default: none.
   */
  readonly trustProxy?: readonly string[];
}

/** The most characters of a key prefix, and of a user's name. */
const MAX_NAME = 256;

export class Entry {
  readonly proxies: TrustedProxies;
  readonly #options: EntryOptions;
  readonly #tokens: Tokens | undefined;
  readonly #limits: GatewayLimits;
  readonly #clock: Clock;
  readonly #failures: FailedTries;
  /** The number of pending calls of the hook. */
  #waiting = 0;

  /** Throws `invalid_argument` for invalid tokens or proxy addresses. */
  constructor(options: EntryOptions, limits: GatewayLimits, clock: Clock) {
    const { authorize, trustProxy = [] } = options;
    this.#tokens = givenTokens(options);
    if (this.#tokens === undefined && authorize === undefined)
      throw new BowlineError(
        "invalid_argument",
        "No client could connect. Pass token, tokens or authorize.",
      );
    this.proxies = new TrustedProxies(trustProxy);
    this.#options = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#failures = new FailedTries(limits.maxAuthFailures, clock);
  }

  /** The gateway's own tokens, which are redacted from everything that it sends. */
  get secrets(): readonly string[] {
    return Object.values(this.#tokens ?? {});
  }

  /** True with an `authorize` hook, which may accept a request without a token. */
  get asksHook(): boolean {
    return this.#options.authorize !== undefined;
  }

  /** Throws `busy` after too many wrong tokens from the address. */
  assertMayTry(request: IncomingMessage): void {
    const retryAfterMs = this.#failures.waitOf(this.#netOf(request));
    if (retryAfterMs > 0)
      throw new GatewayError("busy", "Too many wrong tokens.", { retryable: true, retryAfterMs });
  }

  /** Throws `unauthorized` for a wrong token, and `busy` if the token cannot be checked in time. */
  async accessOf(token: string, request: IncomingMessage): Promise<Access> {
    this.assertMayTry(request);
    const { authorize } = this.#options;
    const scope = this.#tokens && scopeOf(token, this.#tokens);
    if (scope !== undefined) return { scope };
    const access = authorize && (await this.#ask(authorize, token, request));
    // Concurrent attempts must not evade the limit, so it is checked again.
    this.assertMayTry(request);
    if (access !== undefined) return access;
    this.#failures.add(this.#netOf(request));
    throw new GatewayError("unauthorized", "The token is wrong.");
  }

  #netOf(request: IncomingMessage): string {
    return netOf(this.proxies.addressOf(request));
  }

  async #ask(
    authorize: Authorize,
    token: string,
    request: IncomingMessage,
  ): Promise<Access | undefined> {
    const { maxStrangers, authTimeoutMs } = this.#limits;
    const busy = (why: string): GatewayError => new GatewayError("busy", why, { retryable: true });
    if (this.#waiting >= maxStrangers)
      throw busy("Too many connections are waiting for authentication.");
    this.#waiting++;
    let stop = (): void => {};
    const late = new Promise<"late">(
      (resolve) => (stop = this.#clock.setTimer(authTimeoutMs, () => resolve("late"))),
    );
    const asked = (async () => authorize(token, request))().then(toAccess, () => undefined);
    const answer = await Promise.race([asked, late]);
    stop();
    this.#waiting--;
    if (answer === "late") throw busy("Whether the token is right could not be told in time.");
    return answer;
  }
}

/**
 * Checks the result of the hook, which may be plain JavaScript. Anything but an explicit access is
 * refused.
 */
function toAccess(answer: unknown): Access | undefined {
  const { scope, sessions, user } = (answer ?? {}) as Partial<Access>;
  if (scope !== "full" && scope !== "read") return undefined;
  if ([sessions, user].some((name) => name !== undefined && !isName(name))) return undefined;
  return {
    scope,
    ...(sessions !== undefined && { sessions }),
    ...(user !== undefined && { user }),
  };
}

function isName(value: unknown): boolean {
  return (
    typeof value === "string" &&
    value !== "" &&
    value.length <= MAX_NAME &&
    !/\p{Surrogate}/u.test(value)
  );
}

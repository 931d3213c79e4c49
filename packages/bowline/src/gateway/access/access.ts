/**
 * Who may come in, and as what: by the tokens that were given, then by a hook. Wrong ones are
 * counted by address, of IPv6 by net.
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
  /** `read` may look and change nothing. */
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
 * Who somebody is, by their token: asked once for a socket, with its upgrade request, and for each
 * request over HTTP; of one without `Authorization` the token is empty, and a cookie may say it.
 * Undefined refuses, and so does what it throws, which nobody is told, and what is no
 * {@link Access}. It has `authTimeoutMs`.
 */
export type Authorize = (
  token: string,
  request: IncomingMessage,
) => Access | undefined | PromiseLike<Access | undefined>;

export interface EntryOptions {
  /** One token for everyone, with full access. Short for `tokens: { full: token }`. */
  readonly token?: string;
  /** One token for everyone, and one for reading. May be left out where there is `authorize`. */
  readonly tokens?: Tokens;
  /** Tokens or users of one's own; asked for what is none of `tokens`. */
  readonly authorize?: Authorize;
  /**
   * Addresses (`10.0.0.7`, `10.0.0.0/8`, `::1`) of proxies, whose `X-Forwarded-For` says by which
   * address wrong tokens are counted, and whose `X-Forwarded-Prefix` says under which path clients
   * find the gateway. Each has to set both headers itself. Default: none.
   */
  readonly trustProxy?: readonly string[];
}

/** The longest beginning of keys, and the longest name of a user. */
const MAX_NAME = 256;

export class Entry {
  readonly proxies: TrustedProxies;
  readonly #options: EntryOptions;
  readonly #tokens: Tokens | undefined;
  readonly #limits: GatewayLimits;
  readonly #clock: Clock;
  readonly #failures: FailedTries;
  /** How many wait for the hook. */
  #waiting = 0;

  /** Throws `invalid_argument` for tokens that cannot be some, and addresses that are none. */
  constructor(options: EntryOptions, limits: GatewayLimits, clock: Clock) {
    const { authorize, trustProxy = [] } = options;
    this.#tokens = givenTokens(options);
    if (this.#tokens === undefined && authorize === undefined)
      throw new BowlineError(
        "invalid_argument",
        "Nobody could come in: give token, tokens or authorize.",
      );
    this.proxies = new TrustedProxies(trustProxy);
    this.#options = options;
    this.#limits = limits;
    this.#clock = clock;
    this.#failures = new FailedTries(limits.maxAuthFailures, clock);
  }

  /** The gateway's own tokens, which must not be sent to anybody. */
  get secrets(): readonly string[] {
    return Object.values(this.#tokens ?? {});
  }

  /** True with an `authorize` hook, which may accept a request without a token. */
  get asksHook(): boolean {
    return this.#options.authorize !== undefined;
  }

  /** Throws `busy` when the address had too many wrong ones. */
  assertMayTry(request: IncomingMessage): void {
    const retryAfterMs = this.#failures.waitOf(this.#netOf(request));
    if (retryAfterMs > 0)
      throw new GatewayError("busy", "Too many wrong tokens.", { retryable: true, retryAfterMs });
  }

  /** Throws `unauthorized` for a wrong token, and `busy` when it cannot be told. */
  async accessOf(token: string, request: IncomingMessage): Promise<Access> {
    this.assertMayTry(request);
    const { authorize } = this.#options;
    const scope = this.#tokens && scopeOf(token, this.#tokens);
    if (scope !== undefined) return { scope };
    const access = authorize && (await this.#ask(authorize, token, request));
    // Of many tries at once no more are answered than of those that come one after the other.
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
    if (this.#waiting >= maxStrangers) throw busy("Too many wait to be let in.");
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
 * A hook in plain JavaScript may give anything: what is not said in so many words lets nobody in.
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

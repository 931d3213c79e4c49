/**
 * The environment of commands: the person's, without what looks like a secret. A command that a
 * model wrote must not see keys.
 */

/** Ends a word that says so, wherever it stands in a name: API_KEY_PROD, SECRET_KEY_BASE. */
const SECRET_WORD =
  /(?:KEYS?|SECRETS?|TOKEN|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|JWT|DSN|WEBHOOK)\d*$/i;
/** The same of words that mean something else when they stand alone (PWD). */
const SECRET_IF_LATER = /^(?:PASS|PWD|PAT)\d*$/i;
/** Ends a name that is only about a secret: where it lies, how long it is. */
const ABOUT =
  /^(?:FILE|PATH|DIR|NAME|ID|TYPE|MODE|ENABLED|LENGTH|SIZE|LIMIT|COUNT|TTL|PORT|HOST)$/i;

/** Secrets whose names end like a count or like what is only about a secret. */
const SECRET_END = /(?:^|_)(?:SECRET_ID|(?:API|AUTH|ACCESS|REFRESH|BEARER)_TOKENS)$/i;

/** Addresses that have a password more often than not: DATABASE_URL. */
const STORE =
  /(?:^|_)(?:DATABASE|DB|PG|POSTGRES(?:QL)?|MYSQL|MONGO(?:DB)?|REDIS|AMQP|RABBITMQ|BROKER)_(?:.*_)?UR[LI]$/i;

/**
 * Vendors whose other variables identify an account or hold keys under other names
 * (AWS_ACCESS_KEY_ID, AZURE_CLIENT_ID).
 */
const VENDORS =
  "ANTHROPIC AWS AZURE CEREBRAS COHERE DEEPSEEK FIREWORKS GEMINI GROQ MISTRAL OPENAI OPENROUTER PERPLEXITY REPLICATE TOGETHER XAI";
const VENDOR_NAME = new RegExp(`^(?:${VENDORS.replaceAll(" ", "|")})_`, "i");

/** A name and a password before a host. */
const USER_IN_URL = /(?<=[a-z][a-z\d+.-]*:\/\/)([^\s/?#@:]*):([^\s/?#@]+)@/gi;

/** `allowed` names variables that stay although they look like secrets. */
export function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[] = [],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (allowed.includes(name)) kept[name] = value;
    else if (isSecretName(name) || VENDOR_NAME.test(name)) continue;
    else if (passwordsIn(value).length === 0) kept[name] = value;
    // Without the proxy nothing could be reached; it may let in who has no password.
    else if (/proxy$/i.test(name)) kept[name] = value.replaceAll(USER_IN_URL, "");
  }
  return kept;
}

/** Whether a variable of this name holds a secret. */
export function isSecretName(name: string): boolean {
  const words = name.split("_");
  if (SECRET_END.test(name)) return true;
  if (ABOUT.test(words.at(-1) ?? "")) return false;
  return (
    STORE.test(name) ||
    words.some((word, at) => SECRET_WORD.test(word) || (at > 0 && SECRET_IF_LATER.test(word)))
  );
}

/**
 * Of the addresses in a value that name a user and a password: both together, and the password, as
 * it stands there and as it is meant, unless it is the user's name.
 */
export function passwordsIn(value: string): string[] {
  return [...value.matchAll(USER_IN_URL)].flatMap(([, user = "", password = ""]) => {
    const both = `${user}:${password}`;
    return password === user ? [both] : [both, password, decoded(password)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

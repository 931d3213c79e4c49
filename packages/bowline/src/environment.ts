/**
 * The environment of commands: the user's variables without those that look like secrets. A command
 * written by a model must not see keys.
 */

/** Words that mark a secret anywhere in a name: API_KEY_PROD, SECRET_KEY_BASE. */
const SECRET_WORD =
  /(?:KEYS?|SECRETS?|TOKEN|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|JWT|DSN|WEBHOOK)\d*$/i;
/** Words that mark a secret unless they come first in the name: PWD alone is the directory. */
const SECRET_IF_LATER = /^(?:PASS|PWD|PAT)\d*$/i;
/** Last words of names that describe a secret without holding it: its file, its length. */
const ABOUT =
  /^(?:FILE|PATH|DIR|NAME|ID|TYPE|MODE|ENABLED|LENGTH|SIZE|LIMIT|COUNT|TTL|PORT|HOST)$/i;

/** Secrets whose last word looks like a count or like one of {@link ABOUT}. */
const SECRET_END = /(?:^|_)(?:SECRET_ID|(?:API|AUTH|ACCESS|REFRESH|BEARER)_TOKENS)$/i;

/** Addresses that often contain a password: DATABASE_URL. */
const STORE =
  /(?:^|_)(?:DATABASE|DB|PG|POSTGRES(?:QL)?|MYSQL|MONGO(?:DB)?|REDIS|AMQP|RABBITMQ|BROKER)_(?:.*_)?UR[LI]$/i;

/**
 * Vendors whose other variables identify an account or hold keys under other names
 * (AWS_ACCESS_KEY_ID, AZURE_CLIENT_ID).
 */
const VENDORS =
  "ANTHROPIC AWS AZURE CEREBRAS COHERE DEEPSEEK FIREWORKS GEMINI GROQ MISTRAL OPENAI OPENROUTER PERPLEXITY REPLICATE TOGETHER XAI";
const VENDOR_NAME = new RegExp(`^(?:${VENDORS.replaceAll(" ", "|")})_`, "i");

/** A user name and a password before a host. */
const USER_IN_URL = /(?<=[a-z][a-z\d+.-]*:\/\/)([^\s/?#@:]*):([^\s/?#@]+)@/gi;

/** Removes variables that look like secrets. `allowed` names variables to pass on regardless. */
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
    // Without the proxy the command has no network. The user and password are removed, since a
    // proxy may work without them.
    else if (/proxy$/i.test(name)) kept[name] = value.replaceAll(USER_IN_URL, "");
  }
  return kept;
}

/** Returns true if a variable with this name holds a secret. */
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
 * Finds the credentials in the addresses of a value. Returns `user:password` for each, and the
 * password, both as written and URL-decoded, unless it equals the user name.
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

/**
 * The environment of commands: the person's, without what looks like a secret. A command that a
 * model wrote must not see keys.
 */

const SECRET_NAME =
  /(?:KEYS?|SECRETS?|TOKEN|PASSWORDS?|PASSWD|PASSPHRASE|CREDENTIALS?|_(?:PASS|PWD|PAT))(?:_?\d+)?$/i;

/**
 * Vendors whose other variables identify an account or hold keys under other names
 * (AWS_ACCESS_KEY_ID, AZURE_CLIENT_ID).
 */
const VENDORS =
  "ANTHROPIC AWS AZURE CEREBRAS COHERE DEEPSEEK FIREWORKS GEMINI GROQ MISTRAL OPENAI OPENROUTER PERPLEXITY REPLICATE TOGETHER XAI";
const VENDOR_NAME = new RegExp(`^(?:${VENDORS.replaceAll(" ", "|")})_`, "i");

/** `allowed` names variables that stay although they look like secrets. */
export function withoutSecrets(
  env: Readonly<Record<string, string | undefined>>,
  allowed: readonly string[] = [],
): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined) continue;
    if (allowed.includes(name) || !(isSecretName(name) || VENDOR_NAME.test(name)))
      kept[name] = value;
  }
  return kept;
}

/** Whether a variable of this name holds a secret. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

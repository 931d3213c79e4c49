/** Replaces references to variables in the texts of an entry. */
import { BowlineError } from "@bowline/core";

export type Environment = Readonly<Record<string, string | undefined>>;

const reference = /\$\{(?:env:)?([^}:]*)(:-([^}]*))?\}/g;
const anyReference = /\$\{[^}]*\}?/;
/** What editors replace by paths, where no variable of the environment has the name. */
const editorVariable = /^(workspaceFolder|workspaceRoot|userHome|file[A-Z]|file$|cwd$)/;
const name = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Whether the value of a variable or parameter of this name must not appear in messages. */
export function isSecretName(given: string): boolean {
  return /key|token|secret|pass|auth|credential|pwd|jwt|dsn/i.test(given);
}

/**
 * Replaces `${NAME}`, `${env:NAME}` and `${NAME:-default}`. As in a shell, the default also
 * replaces an empty value. Throws `invalid_argument` for a variable that is not set and for every
 * other form of `${…}`. `where` names the text in the error. `onSecret` is told each value whose
 * variable has a name for a secret.
 */
export function expand(
  text: string,
  env: Environment,
  where: string,
  onSecret: (value: string) => void,
): string {
  const [unknown] = anyReference.exec(text.replaceAll(reference, "")) ?? [];
  if (unknown !== undefined) throw unsupported(unknown, where);
  return text.replaceAll(
    reference,
    (whole, variable: string, ending: string | undefined, byDefault: string | undefined) => {
      if (!name.test(variable)) throw unsupported(whole, where);
      const value = env[variable];
      const filled = ending === undefined ? value : value || (byDefault ?? "");
      if (filled === undefined && editorVariable.test(variable))
        throw new BowlineError(
          "invalid_argument",
          `${where} contains \${${variable}}, which only an editor replaces. Write the path instead.`,
        );
      if (filled === undefined)
        throw new BowlineError(
          "invalid_argument",
          `${where} needs the environment variable ${variable}, which is not set. Set it, or write \${${variable}:-default}.`,
        );
      if (isSecretName(variable)) onSecret(filled);
      return filled;
    },
  );
}

function unsupported(given: string, where: string): BowlineError {
  const why = given.startsWith("${input:")
    ? "Nobody is asked for an input: write the value, or the name of a variable that has it. "
    : "";
  return new BowlineError(
    "invalid_argument",
    `${where} contains ${JSON.stringify(given.slice(0, 80))}. ${why}Only \${NAME}, \${NAME:-default} and \${env:NAME} are replaced.`,
  );
}

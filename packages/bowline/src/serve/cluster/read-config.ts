/** Reads the file of a cluster: where its parts are. Everything that is unknown is refused. */
import { readFile } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import { CommandError } from "../../command-error.ts";
import { passwordsIn } from "../../environment.ts";
import { isHttp } from "../../is-http.ts";
import { JsonError, readJson, type JsonText } from "../../settings/json-text.ts";
import { didYouMean } from "../../settings/nearest-name.ts";
import { oneLine } from "../../terminal.ts";
import type { ClusterConfig } from "./cluster-package.ts";
import { clusterFields, requiredFields, type Field, type Fields } from "./config-fields.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ReadConfig {
  readonly config: ClusterConfig;
  /** The passwords and keys in it, which must not be shown. */
  readonly secrets: readonly string[];
}

/**
 * Throws `CommandError` with file, line and column for a file that is not plain JSON, an unknown
 * name, a wrong value, a variable that is not set, and a certificate that cannot be read.
 */
export async function readClusterConfig(path: string, env: Environment): Promise<ReadConfig> {
  const reader = new Reader(path, jsonIn(await textOf(path), path), env);
  const config = await reader.group([], reader.value, clusterFields, requiredFields);
  return { config: config as unknown as ClusterConfig, secrets: reader.secrets };
}

async function textOf(path: string): Promise<string> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    throw new CommandError(`${path} cannot be read (${codeOf(error)}).`, { cause: error });
  }
}

function jsonIn(text: string, path: string): JsonText {
  try {
    return readJson(text);
  } catch (error) {
    if (!(error instanceof JsonError)) throw error;
    const { line, column } = error.place;
    throw new CommandError(`${path}:${line}:${column}: ${error.message}.`, { cause: error });
  }
}

type Path = readonly (string | number)[];

const MAX_LIST = 100;
const VARIABLE = /^[A-Za-z_]\w*$/;

class Reader {
  readonly secrets: string[] = [];
  readonly #path: string;
  readonly #json: JsonText;
  readonly #env: Environment;

  constructor(path: string, json: JsonText, env: Environment) {
    this.#path = path;
    this.#json = json;
    this.#env = env;
  }

  get value(): unknown {
    return this.#json.value;
  }

  async group(
    path: Path,
    given: unknown,
    fields: Fields,
    required: readonly string[] = [],
  ): Promise<Record<string, unknown>> {
    if (!isRecord(given)) return this.#wrong(path, "an object, in braces", given);
    const missing = required.find((name) => given[name] === undefined);
    if (missing !== undefined) return this.#fail(path, `${nameOf([...path, missing])} is missing.`);
    const checked: Record<string, unknown> = {};
    for (const [name, value] of Object.entries(given)) {
      if (path.length === 0 && name === "$schema") continue;
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      if (field === undefined) {
        const hint = didYouMean(name, Object.keys(fields));
        const where = path.length === 0 ? "The file" : nameOf(path);
        return this.#fail([...path, name], `${where} has no ${JSON.stringify(name)}.${hint}`);
      }
      const as = field.kind === "file" ? field.as : undefined;
      checked[as ?? name] = await this.#field([...path, name], value, field);
    }
    return checked;
  }

  async #field(path: Path, given: unknown, field: Field): Promise<unknown> {
    switch (field.kind) {
      case "text":
        return this.#text(path, given, field.isSecret);
      case "address": {
        const url = this.#text(path, given);
        return isHttp(url) ? url : this.#fail(path, `${nameOf(path)} takes an http address.`);
      }
      case "number": {
        const { least, most } = field;
        const isRight = Number.isInteger(given) && Number(given) >= least && Number(given) <= most;
        return isRight ? given : this.#wrong(path, `a whole number, ${least} to ${most}`, given);
      }
      case "switch":
        return typeof given === "boolean" ? given : this.#wrong(path, "true or false", given);
      case "choice": {
        if (field.values.some((value) => value === given)) return given;
        const hint = typeof given === "string" ? didYouMean(given, field.values) : "";
        return this.#wrong(path, `one of ${field.values.join(", ")}`, given, hint);
      }
      case "file":
        return this.#file(path, given, field);
      case "texts":
        if (!Array.isArray(given) || given.length === 0 || given.length > MAX_LIST)
          return this.#wrong(path, `a list of 1 to ${MAX_LIST} texts`, given);
        return given.map((one: unknown, index) => this.#text([...path, index], one));
      case "headers":
        if (!isRecord(given)) return this.#wrong(path, "an object of texts", given);
        return Object.fromEntries(
          Object.entries(given).map(([name, one]) => [
            name,
            this.#text([...path, name], one, true),
          ]),
        );
      case "group":
        if (field.isSwitch === true && typeof given === "boolean") return given;
        return this.group(path, given, field.fields, field.required);
    }
  }

  /** The path of a file, or its text. */
  async #file(
    path: Path,
    given: unknown,
    { as, isSecret = false }: Extract<Field, { kind: "file" }>,
  ): Promise<string> {
    const file = resolve(dirname(this.#path), this.#text(path, given));
    try {
      const text = await readFile(file, "utf8");
      if (isSecret) this.secrets.push(text.trim());
      return as === undefined ? file : text;
    } catch (error) {
      return this.#fail(path, `${nameOf(path)}: ${file} cannot be read (${codeOf(error)}).`);
    }
  }

  /** Replaces `${NAME}`; `$${` stands for `${`. */
  #text(path: Path, given: unknown, isSecret = false): string {
    if (typeof given !== "string" || given.trim() === "") return this.#wrong(path, "a text", given);
    const text = given.replaceAll(/\$\$\{|\$\{([^}]*)\}?/g, (all: string, name?: string) => {
      if (name === undefined) return "${";
      if (!all.endsWith("}") || !VARIABLE.test(name))
        return this.#fail(path, `${JSON.stringify(all)} is not a variable. Write \${NAME}.`);
      const value = this.#env[name];
      if (value !== undefined && value !== "") return value;
      return this.#fail(path, `${nameOf(path)}: the variable ${name} is not set.`);
    });
    const inUrl = passwordsIn(text);
    this.secrets.push(...inUrl, ...(isSecret && inUrl.length === 0 ? [text] : []));
    return text;
  }

  #wrong(path: Path, what: string, given: unknown, hint = ""): never {
    return this.#fail(path, `${nameOf(path)} takes ${what}, not ${kindOf(given)}.${hint}`);
  }

  #fail(path: Path, message: string): never {
    const { line, column } = this.#json.placeOf(path);
    throw new CommandError(oneLine(`${this.#path}:${line}:${column}: ${message}`, 1000));
  }
}

function nameOf(path: Path): string {
  return path.length === 0 ? "The file" : path.join(".");
}

/** Shows no text, which may be a password. */
function kindOf(given: unknown): string {
  if (typeof given === "string") return "this text";
  if (Array.isArray(given)) return "a list";
  return isRecord(given) ? "an object" : String(given);
}

function isRecord(given: unknown): given is Record<string, unknown> {
  return typeof given === "object" && given !== null && !Array.isArray(given);
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? "unknown error";
}

/**
 * Shared by the strict request checks: the list of problems with their paths, and rules of all
 * protocols.
 */

export type Json = Record<string, unknown>;

/** The problems of a body: one sentence each, beginning with the path. */
export class Problems {
  readonly list: string[] = [];

  add(path: string, what: string): void {
    this.list.push(`${path === "" ? "body" : path} ${what}`);
  }

  /**
   * Checks that the value is an object with these fields and no others. Returns undefined if it is
   * not an object.
   */
  object(
    path: string,
    value: unknown,
    required: readonly string[],
    optional: readonly string[] = [],
  ): Json | undefined {
    if (!isObject(value)) {
      this.add(path, `must be an object, not ${describe(value)}`);
      return undefined;
    }
    for (const name of required) if (!(name in value)) this.add(join(path, name), "is required");
    for (const name of Object.keys(value)) {
      if (!required.includes(name) && !optional.includes(name))
        this.add(join(path, name), "is not a field of this protocol");
    }
    return value;
  }

  /** Checks that the value is a list that is not empty. */
  list1(path: string, value: unknown): readonly unknown[] {
    if (Array.isArray(value) && value.length > 0) return value;
    this.add(path, `must be a list that is not empty, not ${describe(value)}`);
    return [];
  }

  /** Checks that the value is text that is not blank. */
  // Q121, Q171
  text(path: string, value: unknown): void {
    if (typeof value !== "string") this.add(path, `must be text, not ${describe(value)}`);
    else if (value.trim() === "") this.add(path, "must not be blank");
  }

  matches(path: string, value: unknown, pattern: RegExp): void {
    if (typeof value !== "string" || !pattern.test(value))
      this.add(path, `must match ${String(pattern)}: ${describe(value)}`);
  }

  oneOf(path: string, value: unknown, allowed: readonly unknown[]): void {
    if (!allowed.includes(value))
      this.add(path, `must be one of ${allowed.map(describe).join(", ")}, not ${describe(value)}`);
  }

  number(path: string, value: unknown, from: number, to: number): void {
    if (typeof value !== "number" || !(value >= from && value <= to)) {
      this.add(path, `must be a number from ${from} to ${to}, not ${describe(value)}`);
    }
  }

  wholeNumber(path: string, value: unknown, from: number): void {
    if (!Number.isSafeInteger(value) || (value as number) < from) {
      this.add(path, `must be a whole number from ${from}, not ${describe(value)}`);
    }
  }

  /** Checks a tool's schema: an object with properties at the root, without unions. */
  // Q114 to Q116
  toolSchema(path: string, value: unknown): void {
    if (!isObject(value)) return this.add(path, `must be an object, not ${describe(value)}`);
    if (value.type !== "object")
      this.add(join(path, "type"), `must be "object", not ${describe(value.type)}`);
    if (!isObject(value.properties)) this.add(join(path, "properties"), "must be an object");
    for (const word of ["$schema", "$ref", "anyOf", "oneOf", "allOf"]) {
      if (word in value) this.add(join(path, word), "is refused at the root of a tool's schema");
    }
  }

  /**
   * Checks the schema of an answer like that of a tool. OpenAI's strict mode also requires every
   * object to be closed and every property to be required.
   */
  // Q117
  outputSchema(path: string, value: unknown, strict: boolean): void {
    this.toolSchema(path, value);
    if (strict && isObject(value)) this.#strictSchema(path, value);
  }

  #strictSchema(path: string, schema: Json): void {
    const { properties, required } = schema;
    for (const word of Object.keys(schema)) {
      if (!strictWords.includes(word)) this.add(join(path, word), "is refused in strict mode");
    }
    if (schema.type === "object" || isObject(properties)) {
      const names = Object.keys(isObject(properties) ? properties : {});
      if (schema.additionalProperties !== false)
        this.add(path, "must have additionalProperties false in strict mode");
      for (const name of names) {
        if (!Array.isArray(required) || !required.includes(name))
          this.add(path, `must require ${name} in strict mode`);
      }
    }
    for (const [place, inner] of schemasIn(path, schema)) this.#strictSchema(place, inner);
  }

  /** Checks a base64 image of a type that servers accept. */
  image(path: string, mimeType: unknown, data: unknown): void {
    this.oneOf(path, mimeType, ["image/png", "image/jpeg", "image/gif", "image/webp"]);
    this.base64(path, data);
  }

  base64(path: string, data: unknown): void {
    if (typeof data !== "string" || data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data)) {
      this.add(path, `must hold base64, not ${describe(data)}`);
    }
  }

  /** Checks that every string is well-formed without NUL, and that all values are JSON. */
  // Q130, Q131
  everyString(path: string, value: unknown): void {
    if (typeof value === "string") {
      if (/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/.test(value)) {
        this.add(path, "holds a lone surrogate");
      }
      if (value.includes("\u0000")) this.add(path, "holds NUL");
    } else if (Array.isArray(value)) {
      for (const [index, item] of value.entries()) this.everyString(`${path}[${index}]`, item);
    } else if (isObject(value)) {
      for (const [name, item] of Object.entries(value)) {
        this.everyString(`${path} (the name of a field)`, name);
        this.everyString(join(path, name), item);
      }
    } else if (
      value !== null &&
      typeof value !== "boolean" &&
      !(typeof value === "number" && Number.isFinite(value))
    ) {
      this.add(path, `must be JSON, not ${describe(value)}`);
    }
  }
}

const strictWords: readonly string[] = (
  "$defs $ref type title description enum const properties required additionalProperties items anyOf pattern format " +
  "multipleOf minimum maximum exclusiveMinimum exclusiveMaximum minItems maxItems"
).split(" ");

/** Returns the schemas directly inside a schema, with their paths. */
export function schemasIn(path: string, schema: Json): [place: string, schema: Json][] {
  const found = Object.entries(schema).flatMap(([word, value]): [string, unknown][] => {
    const place = join(path, word);
    if (word === "properties" || word === "$defs") {
      return Object.entries(isObject(value) ? value : {}).map(([name, inner]) => [
        join(place, name),
        inner,
      ]);
    }
    if (word === "anyOf" && Array.isArray(value))
      return value.map((inner, index) => [`${place}[${index}]`, inner]);
    return word === "items" ? [[place, value]] : [];
  });
  return found.flatMap(([place, inner]): [string, Json][] =>
    isObject(inner) ? [[place, inner]] : [],
  );
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function join(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

/** Describes a value for a problem's text. */
export function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null || typeof value === "number" || typeof value === "boolean")
    return String(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value !== "string")
    return typeof value === "object" ? "an object" : `a ${typeof value}`;
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}

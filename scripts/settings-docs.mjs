// Generates packages/bowline/bowline.schema.json and the table of settings in docs/projects.md from
// the table in the source. `node scripts/settings-docs.mjs --write` writes both; without `--write`
// the script fails when one is stale.
import { readFileSync } from "node:fs";
import { hookEvents, settingTable } from "../packages/bowline/dist/settings/keys.js";
import { keepMade } from "./made-file.mjs";

const command = "node scripts/settings-docs.mjs --write";
const settings = Object.entries(settingTable);

const names = { type: "array", items: { type: "string", minLength: 1 }, maxItems: 500 };
const variable = { type: "string", pattern: "^[A-Za-z_][A-Za-z0-9_]*$" };
const rule = {
  type: "object",
  properties: { rule: { type: "string", minLength: 1 }, match: names, notMatch: names },
  required: ["rule"],
  additionalProperties: false,
};
const rules = {
  type: "array",
  items: { anyOf: [{ type: "string", minLength: 1 }, rule] },
  maxItems: 500,
};

const texts = { type: "array", items: { type: "string" }, maxItems: 500 };
const map = { type: "object", additionalProperties: { type: "string" } };
const server = {
  type: "object",
  properties: {
    type: { enum: ["stdio", "http", "sse"] },
    command: { type: "string", minLength: 1 },
    args: texts,
    env: map,
    cwd: { type: "string", minLength: 1 },
    url: { type: "string", minLength: 1 },
    headers: map,
    disabled: { type: "boolean" },
    includeTools: texts,
    excludeTools: texts,
  },
  oneOf: [{ required: ["command"] }, { required: ["url"] }],
  additionalProperties: false,
};
const hook = {
  type: "object",
  properties: {
    type: { const: "command" },
    command: { type: "string", minLength: 1 },
    timeout: { type: "number", exclusiveMinimum: 0, maximum: 3600 },
    statusMessage: { type: "string" },
  },
  required: ["type", "command"],
  additionalProperties: false,
};
const hookGroup = {
  type: "object",
  properties: {
    matcher: { type: "string", maxLength: 500 },
    hooks: { type: "array", items: hook, maxItems: 20 },
  },
  required: ["hooks"],
  additionalProperties: false,
};
const hookGroups = { type: "array", items: hookGroup, maxItems: 50 };

/** Returns the JSON schema and the words for a type. */
function typeOf(type) {
  switch (type.kind) {
    case "text":
      return [{ type: "string", minLength: 1 }, "text"];
    case "address":
      return [{ type: "string", pattern: "^(https?://|\\$\\{)" }, "address"];
    case "variable":
      return [variable, "name of a variable"];
    case "choice":
      return [{ enum: type.values }, type.values.map((value) => `\`"${value}"\``).join(", ")];
    case "number": {
      const { least: minimum, most: maximum } = type;
      return [{ type: "integer", minimum, maximum }, `whole number, ${minimum} to ${maximum}`];
    }
    case "switch":
      return [{ type: "boolean" }, "`true` or `false`"];
    case "names":
      return [names, "list of names"];
    case "keys":
      return [{ type: "object", additionalProperties: variable }, "object: address to variable"];
    case "permissions": {
      const properties = { allow: rules, ask: rules, deny: rules };
      return [{ type: "object", properties, additionalProperties: false }, "object of lists"];
    }
    case "servers":
      return [
        { type: "object", additionalProperties: server, maxProperties: 50 },
        "object: name to server",
      ];
    case "hooks": {
      const properties = Object.fromEntries(hookEvents.map((event) => [event, hookGroups]));
      return [{ type: "object", properties, additionalProperties: false }, "object of lists"];
    }
    default:
      throw new Error(`No schema for the type ${type.kind}`);
  }
}

const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "Settings of bowline",
  type: "object",
  properties: {
    $schema: { type: "string" },
    ...Object.fromEntries(
      settings.map(([name, { type, help }]) => [
        name,
        { description: help.replaceAll("`", ""), ...typeOf(type)[0] },
      ]),
    ),
  },
  additionalProperties: false,
};
keepMade(
  "packages/bowline/bowline.schema.json",
  `${JSON.stringify(schema, undefined, 2)}\n`,
  command,
  (text) => text.replaceAll(/\s+/g, ""),
);

const rows = settings.map(
  ([name, { type, allowedIn, hasVariables, help }]) =>
    `| \`${name}\` | ${typeOf(type)[1]} | ${allowedIn} | ${hasVariables ? "yes" : "no"} | ${help} |`,
);
const table = [
  "| Setting | Value | Allowed in | `${NAME}` | Meaning |",
  "| --- | --- | --- | --- | --- |",
  ...rows,
].join("\n");
const page = readFileSync("docs/projects.md", "utf8");
const marks = /(<!-- settings -->\n)[^]*?(\n<!-- end of settings -->)/;
if (!marks.test(page)) throw new Error("docs/projects.md has no marks for the table of settings.");
keepMade(
  "docs/projects.md",
  page.replace(marks, (_, start, end) => `${start}\n${table}\n${end}`),
  command,
  (text) => text.replaceAll(/[ \t]+|-{3,}/g, ""),
);

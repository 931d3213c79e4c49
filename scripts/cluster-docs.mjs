// Generates packages/bowline/cluster.schema.json and the table in docs/cluster-operation.md from the
// table in the source. `node scripts/cluster-docs.mjs --write` writes both; without `--write` the
// script fails when one is stale.
import { readFileSync } from "node:fs";
import {
  clusterFields,
  requiredFields,
} from "../packages/bowline/dist/serve/cluster/config-fields.js";
import { keepMade } from "./made-file.mjs";

const command = "node scripts/cluster-docs.mjs --write";
const text = { type: "string", minLength: 1 };

function groupSchema(fields, required = []) {
  const entries = Object.entries(fields);
  return {
    type: "object",
    properties: Object.fromEntries(
      entries.map(([name, field]) => [
        name,
        { description: field.help.replaceAll("`", ""), ...schemaOf(field) },
      ]),
    ),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

function schemaOf(field) {
  switch (field.kind) {
    case "text":
    case "file":
      return text;
    case "address":
      return { type: "string", pattern: "^(https?://|\\$\\{)" };
    case "number":
      return { type: "integer", minimum: field.least, maximum: field.most };
    case "switch":
      return { type: "boolean" };
    case "choice":
      return { enum: field.values };
    case "texts":
      return { type: "array", items: text, minItems: 1, maxItems: 100 };
    case "headers":
      return { type: "object", additionalProperties: text };
    case "group": {
      const group = groupSchema(field.fields, field.required);
      return field.isSwitch ? { anyOf: [{ type: "boolean" }, group] } : group;
    }
    default:
      throw new Error(`No schema for the field ${field.kind}`);
  }
}

const words = {
  text: "text",
  file: "file",
  address: "address",
  switch: "`true`, `false`",
  texts: "list of texts",
  headers: "object of texts",
};

/** A row for each field, with its path. A group has a row only if it stands for itself. */
function rowsOf(fields, path = []) {
  return Object.entries(fields).flatMap(([name, field]) => {
    const full = [...path, name];
    const row = (value) => [`| \`${full.join(".")}\` | ${value} | ${field.help} |`];
    switch (field.kind) {
      case "group":
        return [
          ...row(field.isSwitch ? "`true`, `false`, object" : "object"),
          ...rowsOf(field.fields, full),
        ];
      case "number":
        return row(`${field.least} to ${field.most}`);
      case "choice":
        return row(field.values.map((value) => `\`"${value}"\``).join(", "));
      default:
        return row(words[field.kind]);
    }
  });
}

const schema = {
  $schema: "http://json-schema.org/draft-07/schema#",
  title: "The file of bowline serve --cluster",
  ...groupSchema(
    { $schema: { kind: "text", help: "This schema." }, ...clusterFields },
    requiredFields,
  ),
};
keepMade(
  "packages/bowline/cluster.schema.json",
  `${JSON.stringify(schema, undefined, 2)}\n`,
  command,
  (content) => content.replaceAll(/\s+/g, ""),
);

const table = ["| Field | Value | Meaning |", "| --- | --- | --- |", ...rowsOf(clusterFields)].join(
  "\n",
);
const page = readFileSync("docs/cluster-operation.md", "utf8");
const marks = /(<!-- fields -->\n)[^]*?(\n<!-- end of fields -->)/;
if (!marks.test(page)) throw new Error("docs/cluster-operation.md has no marks for the fields.");
keepMade(
  "docs/cluster-operation.md",
  page.replace(marks, (_, start, end) => `${start}\n${table}\n${end}`),
  command,
  (content) => content.replaceAll(/[ \t]+|-{3,}/g, ""),
);

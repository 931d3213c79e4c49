// Generates two tables that types cannot contain: the error codes with their meanings, from the
// comments in the source, and the vendors, from the built package.
import { readFileSync } from "node:fs";
import { vendors } from "../../packages/core/dist/index.js";

const path = "packages/core/src/errors.ts";

export function renderCodes() {
  const list = /errorCodes = \[\n(.*?)\n\] as const/s.exec(readFileSync(path, "utf8"))?.[1];
  if (list === undefined) throw new Error(`${path} has no list of errorCodes.`);
  const rows = list.split("\n").map((line) => {
    const [, group] = /^ *\/\/ (.*)$/.exec(line) ?? [];
    if (group !== undefined) return { group };
    const [, code, meaning] = /^ *"(\w+)", \/\/ (.+)$/.exec(line) ?? [];
    if (code === undefined) throw new Error(`${path}: no code with its meaning: ${line.trim()}`);
    return { code, meaning };
  });
  let group = "";
  const lines = rows.flatMap((row) => {
    if (row.code === undefined) {
      group = row.group;
      return [];
    }
    return [`| \`${row.code}\` | ${group} | ${row.meaning.replaceAll("|", String.raw`\|`)} |`];
  });
  return ["## Codes", ["| Code | Of | Meaning |", "| --- | --- | --- |", ...lines].join("\n")].join(
    "\n\n",
  );
}

export function renderVendors() {
  const rows = vendors.map(({ id, name, api, keyVariable, baseUrl }) => {
    const key = keyVariable === undefined ? "none" : `\`${keyVariable}\``;
    return `| \`${id}\` | ${name} | \`${api}\` | ${key} | ${baseUrl === undefined ? "yours" : `\`${baseUrl}\``} |`;
  });
  return [
    "## Vendors and their keys",
    ["| Id | Vendor | Protocol | Key | Address |", "| --- | --- | --- | --- | --- |", ...rows].join(
      "\n",
    ),
  ].join("\n\n");
}

import { defineConfig } from "oxlint";
import { existsSync } from "node:fs";
import { packages } from "./scripts/layers.ts";

type Restriction = { regex: string; message: string };

const byEntries: Restriction = {
  regex: "(?:^|/)core/(?:src|dist|test)(?:/|$)",
  message: "Import @bowline/core by one of its entries.",
};
const noTesting: Restriction = {
  regex: "^@bowline/core/testing$",
  message: "Testing is for tests.",
};
const noNode: Restriction = {
  regex: "^node:",
  message:
    "This package runs without Node: put this in a folder named node/ and give it its own entry.",
};

/** Lint's half of scripts/layers.ts: an editor shows a breach where the import is written. */
const layerOverrides = Object.entries(packages).flatMap(([name, { source, layers, isWebOnly }]) => {
  const isFile = (layer: string): boolean => existsSync(`${source}/${layer}.ts`);
  return Object.entries(layers).flatMap(([layer, allowed]) => {
    const others = Object.keys(layers).filter(
      (other) => other !== layer && !allowed.includes(other),
    );
    const direction = others.map((other): Restriction => {
      const up = isFile(layer) ? "\\./" : "(?:\\.\\./)+";
      const inner = [layer, ...allowed]
        .filter((below) => below.startsWith(`${other}/`))
        .map((below) => `(?!${below.slice(other.length + 1)}/)`);
      return {
        regex: `^${up}${pathOf(other)}${isFile(other) ? "\\.ts$" : `/${inner.join("")}`}`,
        message: `The layer "${layer}" may not import "${other}" (scripts/layers.ts).`,
      };
    });
    const all = restrict([...direction, ...ofPackage(name)]);
    const web = restrict([...direction, ...ofPackage(name), ...(isWebOnly ? [noNode] : [])]);
    return isFile(layer)
      ? [{ files: [`${source}/${layer}.ts`], rules: web }]
      : [
          { files: [`${source}/${layer}/**/*.ts`], rules: web },
          ...(isWebOnly ? [{ files: [`${source}/${layer}/**/node/**/*.ts`], rules: all }] : []),
        ];
  });
});

/** From inside `a`, the folder `a/b` is `../b`. */
function pathOf(layer: string): string {
  const [name = "", ...above] = layer.split("/").toReversed();
  return above.length === 0 ? name : `(?:${above.toReversed().join("/")}/)?${name}`;
}

/** Packages know each other by their public entries. */
function ofPackage(name: string): Restriction[] {
  return name === "core" ? [] : [byEntries, noTesting];
}

function restrict(patterns: Restriction[]): {
  "no-restricted-imports": ["error", { patterns: Restriction[] }];
} {
  return { "no-restricted-imports": ["error", { patterns }] };
}

export default defineConfig({
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "promise", "node"],
  categories: { correctness: "error", suspicious: "error" },
  options: { typeAware: true, reportUnusedDisableDirectives: "error" },
  env: { builtin: true },
  // Ignores the programs in coming-from that use other libraries, whose types are not installed.
  ignorePatterns: ["**/dist/**", "**/fixtures/**", "coming-from/**/*.there.ts"],
  rules: {
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": [
      "error",
      {
        allowForKnownSafeCalls: [
          { from: "package", package: "node:test", name: ["it", "describe", "test", "suite"] },
        ],
      },
    ],
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/consistent-type-imports": "error",
    "typescript/await-thenable": "error",
    "typescript/only-throw-error": "error",
    // Types included: who reads a file should not have to read those above it.
    "import/no-cycle": ["error", { ignoreTypes: false }],
    // Narrowing what came off a wire is what a decoder does; the cast is where it says so.
    "typescript/no-unsafe-type-assertion": "off",
    // The compiler's noImplicitReturns, without the noise about bare returns.
    "typescript/consistent-return": "off",
    // Written for Node's callbacks; the loop hands promises on to listeners and steps.
    "promise/always-return": "off",
    "promise/no-callback-in-promise": "off",
    // Wires and terminals are where control characters are named on purpose.
    "no-control-regex": "off",
    // fast-check is used as `fc`, its own idiom.
    "import/no-named-as-default-member": "off",
    "unicorn/consistent-function-scoping": "off",
  },
  overrides: [
    {
      files: ["packages/*/**/*.ts"],
      excludeFiles: ["packages/core/**"],
      rules: restrict([byEntries]),
    },
    ...layerOverrides,
    // A function that is longer does more than one thing. An exception is a comment with its reason.
    {
      files: [
        "packages/*/src/**/*.ts",
        "scripts/**/*.{ts,mjs}",
        "mutate/{,acceptors/}*.ts",
        "mutants/*.ts",
      ],
      rules: {
        "max-lines-per-function": ["error", { max: 70, skipBlankLines: true, skipComments: true }],
      },
    },
    // The transports of MCP are no event targets: they call what is assigned.
    {
      files: ["packages/mcp/**/*.ts"],
      rules: { "unicorn/prefer-add-event-listener": "off" },
    },
    // A type test may be a lone `new`, there to be refused.
    { files: ["**/*.types.ts"], rules: { "no-new": "off" } },
  ],
});

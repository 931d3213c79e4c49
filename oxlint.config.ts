import { defineConfig } from "oxlint";
import { fileLayers, layers } from "./scripts/layers.ts";

type Restriction = { regex: string; message: string };

const noNode: Restriction = {
  regex: "^node:",
  message: "Core runs without Node: put this in a folder named node/ and give it its own entry.",
};

/**
 * Lint's half of scripts/layers.ts: it also sees type-only imports, which the built graph no longer
 * has.
 */
const layerOverrides = Object.entries(layers).flatMap(([layer, allowed]) => {
  const isFile = fileLayers.includes(layer);
  const others = Object.keys(layers).filter((other) => other !== layer && !allowed.includes(other));
  const folders = others.filter((other) => !fileLayers.includes(other));
  const files = others.filter((other) => fileLayers.includes(other));
  const up = isFile ? "\\./" : "(?:\\.\\./)+";
  const direction: Restriction[] = [
    { names: folders, end: "/" },
    { names: files, end: "\\.ts$" },
  ]
    .filter(({ names }) => names.length > 0)
    .map(({ names, end }) => ({
      regex: `^${up}(?:${names.join("|")})${end}`,
      message: `The layer "${layer}" may not import this one (scripts/layers.ts).`,
    }));
  const where = isFile ? `packages/core/src/${layer}.ts` : `packages/core/src/${layer}/**/*.ts`;
  return [
    { files: [where], rules: restrict([...direction, noNode]) },
    ...(isFile
      ? []
      : [{ files: [`packages/core/src/${layer}/**/node/**/*.ts`], rules: restrict(direction) }]),
  ];
});

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
  ignorePatterns: ["**/dist/**", "**/fixtures/**"],
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
    "import/no-cycle": "error",
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
    ...layerOverrides,
    // A type test may be a lone `new`, there to be refused.
    { files: ["**/*.types.ts"], rules: { "no-new": "off" } },
    {
      files: ["packages/bowline/**/*.ts"],
      rules: restrict([
        {
          regex: "(?:^|/)core/(?:src|dist|test)(?:/|$)",
          message: "Import @bowline/core by one of its entries.",
        },
      ]),
    },
    {
      files: ["packages/bowline/src/**/*.ts"],
      rules: restrict([
        {
          regex: "(?:^|/)core/(?:src|dist|test)(?:/|$)",
          message: "Import @bowline/core by one of its entries.",
        },
        { regex: "^@bowline/core/testing$", message: "Testing is for tests." },
      ]),
    },
  ],
});

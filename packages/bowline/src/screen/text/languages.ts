/** The languages that code is coloured in, by the names that people write after a fence. */

const aliases = {
  bash: "sh shell zsh",
  c: "h",
  cpp: "c++ cc cxx hpp",
  csharp: "cs c#",
  css: "",
  dart: "",
  diff: "patch",
  dockerfile: "docker",
  elixir: "ex exs",
  erlang: "erl",
  go: "golang",
  graphql: "gql",
  haskell: "hs",
  ini: "toml",
  java: "",
  javascript: "js jsx mjs cjs",
  json: "jsonc json5",
  julia: "jl",
  kotlin: "kt kts",
  less: "",
  lua: "",
  makefile: "make mk",
  markdown: "md",
  nginx: "",
  nix: "",
  objectivec: "objc mm",
  ocaml: "ml",
  perl: "pl pm",
  php: "",
  powershell: "ps1 pwsh",
  properties: "",
  protobuf: "proto",
  python: "py gyp",
  r: "",
  ruby: "rb",
  rust: "rs",
  scala: "",
  scss: "",
  sql: "",
  swift: "",
  typescript: "ts tsx mts cts",
  xml: "html xhtml svg vue",
  yaml: "yml",
} as const;

const byName: ReadonlyMap<string, string> = new Map(
  Object.entries(aliases).flatMap(([name, others]) =>
    [name, ...others.split(" ")].filter((alias) => alias !== "").map((alias) => [alias, name]),
  ),
);

/** Returns the library's name of a language, or undefined. `name` may be an alias. */
export function languageNamed(name: string): string | undefined {
  return byName.get(name.toLowerCase());
}

/** Returns the language of a file by the end of its name, or undefined. */
export function languageOfPath(path: string): string | undefined {
  const file = path.split("/").at(-1) ?? "";
  const end = /\.([^.]+)$/.exec(file)?.[1] ?? file;
  return languageNamed(end);
}

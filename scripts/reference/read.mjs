// Reads the public declarations of all packages from their published types.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { pageOf, pages } from "./pages.mjs";

// TypeScript 7 has no compiler API. Version 5.4 reads the published types, which a check ensures.
export const ts = createRequire(import.meta.url)("typescript-5.4");

/**
 * Returns the checker, the entries with their exported names, and all declarations by symbol. These
 * include types that are not exported but used by an exported one.
 */
export function readDeclarations() {
  const entries = readEntries();
  const program = ts.createProgram(
    entries.map(({ file }) => file),
    {
      target: ts.ScriptTarget.ES2022,
      module: ts.ModuleKind.NodeNext,
      moduleResolution: ts.ModuleResolutionKind.NodeNext,
      lib: ["lib.es2023.d.ts", "lib.esnext.disposable.d.ts", "lib.dom.d.ts"],
      types: ["node"],
      strict: true,
      skipLibCheck: true,
      noEmit: true,
    },
  );
  const checker = program.getTypeChecker();
  const declarations = new Map();
  for (const entry of entries) {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry.file));
    const exported = checker.getExportsOfModule(module).flatMap((one) => namesOf(checker, one));
    for (const { symbol, name } of exported) {
      const known = declarations.get(symbol);
      if (known !== undefined) known.entries.push(entry.name);
      else {
        const declaration = declare(symbol, pageOf(pathOf(symbol)), entry.name);
        declarations.set(symbol, { ...declaration, name });
      }
    }
    entry.symbols = exported
      .map(({ symbol }) => symbol)
      .toSorted((a, b) => compare(declarations.get(a).name, declarations.get(b).name));
  }
  addReferred(checker, declarations);
  nameAnchors(declarations);
  return { checker, entries, declarations };
}

/** An export with its name. Of a namespace, such as `anthropic`, its functions: `anthropic.webSearch`. */
function namesOf(checker, exported) {
  const symbol = resolve(checker, exported);
  if (!(symbol.flags & ts.SymbolFlags.ValueModule)) return [{ symbol, name: symbol.name }];
  return checker
    .getExportsOfModule(symbol)
    .map((one) => resolve(checker, one))
    .filter(({ flags }) => flags & ts.SymbolFlags.Function)
    .map((one) => ({ symbol: one, name: `${exported.name}.${one.name}` }));
}

function readEntries() {
  return ["core", "bowline", "compat", "mcp", "postgres", "restate", "cluster"].flatMap(
    (folder) => {
      const { name, exports } = JSON.parse(readFileSync(`packages/${folder}/package.json`, "utf8"));
      return Object.entries(exports).flatMap(([path, { types }]) =>
        types === undefined
          ? []
          : [{ name: `${name}${path.slice(1)}`, file: `packages/${folder}/${types.slice(2)}` }],
      );
    },
  );
}

function declare(symbol, page, ...entries) {
  return { symbol, name: symbol.name, page, entries };
}

/** Adds types that are not exported but used by an exported one, on the page of that one. */
function addReferred(checker, declarations) {
  for (const { symbol, page } of declarations.values()) {
    for (const node of symbol.declarations) {
      eachReference(node, (name) => {
        const found = resolve(checker, checker.getSymbolAtLocation(name));
        if (found === undefined || declarations.has(found) || !isOurs(found)) return;
        if (
          found.flags &
          (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)
        )
          declarations.set(found, declare(found, page)); // the loop visits it later
      });
    }
  }
}

/** Calls `visit` with the name of each type that the node uses. */
export function eachReference(node, visit) {
  if (isHidden(node)) return;
  if (ts.isTypeReferenceNode(node)) visit(rightmost(node.typeName));
  else if (ts.isExpressionWithTypeArguments(node) && ts.isIdentifier(node.expression))
    visit(node.expression);
  ts.forEachChild(node, (child) => eachReference(child, visit));
}

/** Returns true for private members, and for those with a symbol as key. */
export function isHidden(node) {
  if (!ts.isClassElement(node) && !ts.isTypeElement(node)) return false;
  const isPrivate = node.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.PrivateKeyword);
  return (
    isPrivate ||
    (node.name !== undefined && !ts.isIdentifier(node.name) && !ts.isStringLiteral(node.name))
  );
}

const rightmost = (name) => (ts.isQualifiedName(name) ? name.right : name);

/** If two declarations on a page have the same name, the second heading names its entry. */
function nameAnchors(declarations) {
  const taken = new Set();
  for (const page of pages)
    for (const declaration of declarations.values()) {
      if (declaration.page !== page.file) continue;
      const { name, entries } = declaration;
      declaration.heading = taken.has(`${page.file} ${name.toLowerCase()}`)
        ? `${name} of ${entries.at(-1) ?? "another file"}`
        : name;
      taken.add(`${page.file} ${name.toLowerCase()}`);
    }
}

export function resolve(checker, symbol) {
  return symbol !== undefined && symbol.flags & ts.SymbolFlags.Alias
    ? checker.getAliasedSymbol(symbol)
    : symbol;
}

export function isOurs(symbol) {
  return /packages\/\w+\/dist\//.test(symbol.declarations?.[0]?.getSourceFile().fileName ?? "");
}

function pathOf(symbol) {
  const { fileName } = symbol.declarations[0].getSourceFile();
  return fileName.replace(/^.*packages\/(\w+)\/dist\//, "$1/");
}

export const compare = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

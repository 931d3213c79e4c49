// Renders one declaration of the reference as Markdown.
import { compare, eachReference, isHidden, isOurs, resolve, ts } from "./read.mjs";
import { block, code, linkTo, textOf, typeCell } from "./words.mjs";

/** Longer types are omitted, since they do not help a reader. */
const MAX_TYPE = 2500;

export function renderDeclaration(site, { symbol, heading, entries }) {
  const title = entries.length === 0 ? `### ${heading}` : `## ${heading}`;
  const from = entries.map((entry) => `\`${entry}\``).join(", ");
  return [title, from, textOf(site, symbol), ...bodyOf(site, symbol)]
    .filter((part) => part !== "")
    .join("\n\n");
}

function bodyOf(site, symbol) {
  const nodes = symbol.declarations;
  const [node] = nodes;
  if (nodes.every(ts.isFunctionDeclaration)) return renderFunction(site, nodes);
  if (ts.isInterfaceDeclaration(node)) return renderInterface(site, symbol, node);
  if (ts.isClassDeclaration(node)) return renderClass(site, symbol, node);
  if (ts.isTypeAliasDeclaration(node)) return renderAlias(site, node);
  return renderVariable(site, node);
}

function renderFunction(site, nodes) {
  return [block(nodes.map((node) => bare(node.getText())).join("\n")), ...seeAlso(site, nodes)];
}

function renderVariable(site, node) {
  const text = node.getText();
  return text.length > MAX_TYPE / 5
    ? []
    : [block(dedent(`const ${text};`)), ...seeAlso(site, [node])];
}

function renderAlias(site, node) {
  const events = eventsOf(site, node);
  if (events !== undefined) return [events];
  if (node.name.text.endsWith("Options") && ts.isIntersectionTypeNode(node.type)) {
    const { members, choices } = joinedParts(site, node.type);
    return [
      ...table(site, members, true),
      ...choices.map((choice) => `And the options of one of these: ${typeCell(site, choice)}.`),
    ];
  }
  const text = bare(node.getText());
  return [...(text.length > MAX_TYPE ? [] : [block(dedent(text))]), ...seeAlso(site, [node])];
}

/** Returns the members of an intersection, and its unions, of which one member applies. */
function joinedParts(site, type) {
  if (ts.isParenthesizedTypeNode(type)) return joinedParts(site, type.type);
  if (ts.isUnionTypeNode(type)) return { members: [], choices: [type] };
  if (ts.isTypeLiteralNode(type))
    return { members: type.members.map(({ symbol }) => describe(symbol)), choices: [] };
  if (ts.isIntersectionTypeNode(type)) {
    const parts = type.types.map((part) => joinedParts(site, part));
    return {
      members: parts.flatMap(({ members }) => members),
      choices: parts.flatMap(({ choices }) => choices),
    };
  }
  const named = resolve(site.checker, site.checker.getSymbolAtLocation(type.typeName));
  const [node] = named.declarations;
  if (ts.isTypeAliasDeclaration(node)) return joinedParts(site, node.type);
  return { members: membersOf(site, named, true), choices: [] };
}

/** Renders a union of objects that differ by `type` as a table with the fields of each. */
function eventsOf(site, { type }) {
  const rows = partsOf(site, type);
  if (rows.length < 3 || rows.some(({ members }) => !members.some(isType))) return undefined;
  const lines = rows.map(({ symbol, members }) => {
    const found = site.declarations.get(symbol);
    const name = code(members.find(isType).node.type.getText());
    const meaning = found === undefined ? "" : textOf(site, symbol, true);
    const fields = members.filter((member) => !isType(member)).map(({ label }) => `\`${label}\``);
    const link = found === undefined ? name : `[${name}](${linkTo(site, found)})`;
    return `| ${link} | ${meaning} | ${fields.join(", ")} |`;
  });
  return ["| `type` | Meaning | Fields |", "| --- | --- | --- |", ...lines].join("\n");
}

const isType = ({ name, node }) => name === "type" && node.type !== undefined;

/** Returns the objects of a union, including those of unions that it names. */
function partsOf(site, type, symbol) {
  if (ts.isUnionTypeNode(type)) return type.types.flatMap((part) => partsOf(site, part, symbol));
  if (ts.isTypeLiteralNode(type))
    return [{ symbol, members: type.members.map(({ symbol: member }) => describe(member)) }];
  if (!ts.isTypeReferenceNode(type)) return [{ members: [] }];
  const named = resolve(site.checker, site.checker.getSymbolAtLocation(type.typeName));
  const [node] = named.declarations ?? [];
  if (node !== undefined && ts.isTypeAliasDeclaration(node)) return partsOf(site, node.type, named);
  return [{ symbol: named, members: membersOf(site, named, true) }];
}

function renderInterface(site, symbol, node) {
  // Readers find all options in the table of the function that takes them.
  const isFlat = symbol.name.endsWith("Options") || symbol.name === "GatewayLimits";
  const heritage = (node.heritageClauses ?? []).flatMap(({ types }) => types);
  const calls = node.members.filter(ts.isCallSignatureDeclaration);
  return [
    ...(calls.length > 0 ? [block(calls.map((call) => dedent(call.getText())).join("\n"))] : []),
    ...(heritage.length > 0 && !isFlat
      ? [`Has also what ${heritage.map((base) => typeCell(site, base)).join(", ")} has.`]
      : []),
    ...table(site, membersOf(site, symbol, isFlat), symbol.name.endsWith("Options")),
  ];
}

function renderClass(site, symbol, node) {
  const constructors = node.members.filter(
    (member) => ts.isConstructorDeclaration(member) && !isHidden(member),
  );
  const heritage = (node.heritageClauses ?? []).flatMap(({ types }) => types);
  const make = constructors.map(
    (one) => `new ${symbol.name}${dedent(one.getText()).replace(/^(?:public )?constructor/, "")}`,
  );
  return [
    ...(make.length > 0 ? [block(make.join("\n"))] : []),
    ...(heritage.length > 0
      ? [`Extends or implements ${heritage.map((base) => typeCell(site, base)).join(", ")}.`]
      : []),
    ...table(site, classMembers(site, symbol, heritage[0])),
  ];
}

function classMembers(site, symbol, base) {
  const own = membersOf(site, symbol, false);
  const from = base && resolve(site.checker, site.checker.getSymbolAtLocation(base.expression));
  if (from === undefined || !isOurs(from) || !(from.flags & ts.SymbolFlags.Class)) return own;
  const names = new Set(own.map(({ name }) => name));
  return [...own, ...membersOf(site, from, false).filter(({ name }) => !names.has(name))];
}

/** Returns the members of a class or an interface. With `isFlat`, also the inherited ones. */
function membersOf(site, symbol, isFlat) {
  const type = site.checker.getDeclaredTypeOfSymbol(symbol);
  const own = isFlat ? type.getProperties() : [...(symbol.members?.values() ?? [])];
  return own
    .filter((member) => isOurs(member) && !member.declarations.some(isHidden))
    .filter(
      ({ flags }) =>
        flags & (ts.SymbolFlags.Property | ts.SymbolFlags.Method | ts.SymbolFlags.Accessor),
    )
    .map((member) => describe(member));
}

function describe(member) {
  const [node] = member.declarations;
  const isOptional = Boolean(member.flags & ts.SymbolFlags.Optional);
  return { member, node, name: member.name, label: `${member.name}${isOptional ? "?" : ""}` };
}

/** With `isOptions` a row without a default says "none" or "required". */
function table(site, members, isOptions = false) {
  if (members.length === 0) return [];
  const rows = members.map(({ member, node, label, name }) => {
    const text = textOf(site, member, true);
    const isCall = ts.isMethodSignature(node) || ts.isMethodDeclaration(node);
    const shape = isCall
      ? member.declarations.map((one) => code(bare(one.getText()))).join(" ")
      : typeOfMember(site, node);
    return { name: isCall ? `${name}()` : label, shape, ...splitDefault(text) };
  });
  const hasDefaults = rows.some(({ fallback }) => fallback !== "");
  const absent = (name) => (!isOptions ? "" : name.endsWith("?") ? "none" : "required");
  return [
    [
      hasDefaults ? "| Name | Type | Default | Meaning |" : "| Name | Type | Meaning |",
      hasDefaults ? "| --- | --- | --- | --- |" : "| --- | --- | --- |",
      ...rows.map(({ name, shape, fallback, meaning }) =>
        ["", `\`${name}\``, shape, ...(hasDefaults ? [fallback || absent(name)] : []), meaning, ""]
          .join(" | ")
          .trim(),
      ),
    ].join("\n"),
  ];
}

function typeOfMember(site, node) {
  const type = node.type ?? node.parameters?.[0]?.type;
  if (type === undefined) return "";
  const parts = ts.isUnionTypeNode(type) ? type.types : [];
  const isUndefined = (part) => part.kind === ts.SyntaxKind.UndefinedKeyword;
  // `name?: T | undefined` would show twice that the option is optional.
  if (node.questionToken !== undefined && parts.length === 2 && parts.some(isUndefined)) {
    const rest = parts.find((part) => !isUndefined(part));
    return typeCell(site, ts.isParenthesizedTypeNode(rest) ? rest.type : rest);
  }
  const cell = typeCell(site, type);
  if (node.questionToken === undefined) return cell;
  return cell.replace(/` \\\| undefined`$/, "").replace(/ \\\| undefined`$/, "`");
}

/** Splits "Default 50. The rest." into two table columns. */
function splitDefault(text) {
  const sentence = /(?:^|(?<=[.;:] ))Default:? (.+?)\.(?= |$)/g;
  const found = [...text.matchAll(sentence)].map(([, value]) => value);
  const rest = text.replaceAll(sentence, "").replaceAll(/ {2,}/g, " ").trim();
  return { fallback: found.join("; "), meaning: rest };
}

/** Lists the types that the nodes use, since code blocks cannot contain links. */
function seeAlso(site, nodes) {
  const found = new Map();
  for (const node of nodes)
    eachReference(node, (name) => {
      const declaration = site.declarations.get(
        resolve(site.checker, site.checker.getSymbolAtLocation(name)),
      );
      if (declaration !== undefined && !nodes.includes(declaration.symbol.declarations[0]))
        found.set(declaration.name, `[\`${declaration.name}\`](${linkTo(site, declaration)})`);
    });
  const links = [...found].toSorted(([a], [b]) => compare(a, b)).map(([, link]) => link);
  return links.length === 0 ? [] : [`See ${links.join(", ")}.`];
}

function bare(text) {
  return dedent(
    text
      .replace(/^(?:export )?(?:declare )?(?:default )?/, "")
      // A destructured parameter has no name in the types.
      .replaceAll(/\{[^{}:]*\}: (\w+)/g, (_, type) => `${parameterName(type)}: ${type}`),
  );
}

function parameterName(type) {
  return type.endsWith("Options") ? "options" : type[0].toLowerCase() + type.slice(1);
}

/** TypeScript indents by four spaces, the documentation by two. */
function dedent(text) {
  return text.replaceAll(/^(?: {4})+/gm, (spaces) => " ".repeat(spaces.length / 2));
}

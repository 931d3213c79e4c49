/**
 * Finds the places where a source can be broken, and the replacement texts. Types and literals are
 * not changed.
 */
import { type BinaryExpression, parseSync, type Expression, Visitor } from "oxc-parser";

export interface Site {
  /** UTF-16 offsets of the text that is replaced. */
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

/**
 * One replacement for each operator. `===` becomes its negation, so conditions that are equalities
 * are not negated again.
 */
const operators: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "==": "!=",
  "!=": "==",
  "+": "-",
  "-": "+",
  "*": "/",
  "/": "*",
  "+=": "-=",
  "-=": "+=",
};

/** Returns the sites of a source in order. Throws if it cannot be parsed. */
export function findSites(file: string, source: string): Site[] {
  const { program, errors } = parseSync(file, source);
  if (errors[0] !== undefined) throw new Error(`${file}: ${errors[0].message}`);
  const sites: Site[] = [];
  const replace = (node: { start: number; end: number }, replacement: string): void => {
    sites.push({ start: node.start, end: node.end, replacement });
  };
  const replaceOperator = (operator: string, left: { end: number }): void => {
    const other = operators[operator];
    if (other === undefined) return;
    const start = source.indexOf(operator, left.end);
    sites.push({ start, end: start + operator.length, replacement: other });
  };
  /** `isLoop`: an endless loop would only show that it hangs. */
  const breakCondition = (test: Expression, isLoop: boolean): void => {
    if (test.type === "Literal") return;
    if (!isEquality(test)) replace(test, `!(${textOf(source, test)})`);
    if (!isLoop) replace(test, "true");
    replace(test, "false");
  };
  new Visitor({
    IfStatement: ({ test }) => breakCondition(test, false),
    ConditionalExpression: ({ test }) => breakCondition(test, false),
    WhileStatement: ({ test }) => breakCondition(test, true),
    DoWhileStatement: ({ test }) => breakCondition(test, true),
    ForStatement: ({ test }) => {
      if (test !== null) breakCondition(test, true);
    },
    BinaryExpression: (node) => {
      if (!joinsText(node)) replaceOperator(node.operator, node.left);
    },
    AssignmentExpression: (node) => {
      if (!isText(node.right)) replaceOperator(node.operator, node.left);
    },
    LogicalExpression: (node) => {
      if (node.operator === "??") return;
      const other = node.operator === "&&" ? "||" : "&&";
      // Parenthesised, since the two operators have different precedence.
      replace(node, `((${textOf(source, node.left)}) ${other} (${textOf(source, node.right)}))`);
    },
    ExpressionStatement: (node) => {
      if (!isSuperCall(node.expression) && !("directive" in node && node.directive !== null))
        replace(node, ";");
    },
    ReturnStatement: (node) => {
      if (node.argument === null) replace(node, ";");
    },
  }).visit(program);
  return sites.toSorted((a, b) => a.start - b.start || a.end - b.end);
}

export function applySite(source: string, { start, end, replacement }: Site): string {
  return source.slice(0, start) + replacement + source.slice(end);
}

function textOf(source: string, { start, end }: { start: number; end: number }): string {
  return source.slice(start, end);
}

function isEquality({ type, ...node }: Expression): boolean {
  return type === "BinaryExpression" && /^[!=]==?$/.test((node as BinaryExpression).operator);
}

/** `"a" - b` is not a realistic mistake. */
function joinsText(node: BinaryExpression): boolean {
  return node.operator === "+" && (isText(node.left) || isText(node.right));
}

function isText(node: { type: string }): boolean {
  if (node.type === "TemplateLiteral") return true;
  if (node.type === "BinaryExpression") return joinsText(node as BinaryExpression);
  return (
    node.type === "Literal" && typeof (node as unknown as { value: unknown }).value === "string"
  );
}

/** A constructor without this call always throws. */
function isSuperCall(node: Expression): boolean {
  return node.type === "CallExpression" && node.callee.type === "Super";
}

/** Finds the colours and links that are still open at the end of a text. */

/** Closes all colours and a link. */
export const RESET = "\u001b[0m\u001b]8;;\u001b\\";

const STYLES =
  /\u001b\[([\d;:]*)m|(\u001b\]8;[^;\u0007\u001b]*;([^\u0007\u001b]*)(?:\u0007|\u001b\\))/g;

/** Returns the sequences that open the same colours and link again, "" if none is open. */
export function openStyles(styled: string): string {
  if (!styled.includes("\u001b")) return "";
  const open = new Map<string, string>();
  for (const [, parameters, link, address] of styled.matchAll(STYLES)) {
    if (link === undefined) applyParameters(open, parameters ?? "");
    else if (address === "") open.delete("link");
    else open.set("link", link);
  }
  return [...open.values()].join("");
}

function applyParameters(open: Map<string, string>, parameters: string): void {
  const codes = parameters.split(";");
  for (let i = 0; i < codes.length; i += 1) {
    let code = codes[i] ?? "";
    const number = Number.parseInt(code || "0", 10);
    if ((number === 38 || number === 48) && !code.includes(":")) {
      const length = codes[i + 1] === "2" ? 5 : 3; // 38;2;r;g;b or 38;5;n
      code = codes.slice(i, i + length).join(";");
      i += length - 1;
    }
    applyCode(open, number, code);
  }
}

function applyCode(open: Map<string, string>, number: number, code: string): void {
  if (number === 0) return closeAll(open);
  for (const [kind, close, isOpenedBy] of KINDS) {
    if (number === close) open.delete(kind);
    else if (isOpenedBy(number)) open.set(kind, `\u001b[${code}m`);
  }
}

function closeAll(open: Map<string, string>): void {
  for (const kind of open.keys()) if (kind !== "link") open.delete(kind);
}

const KINDS: readonly (readonly [string, number, (code: number) => boolean])[] = [
  ["bold", 22, (code) => code === 1],
  ["dim", 22, (code) => code === 2],
  ["italic", 23, (code) => code === 3],
  ["underline", 24, (code) => code === 4 || code === 21],
  ["blink", 25, (code) => code === 5 || code === 6],
  ["inverse", 27, (code) => code === 7],
  ["hidden", 28, (code) => code === 8],
  ["strike", 29, (code) => code === 9],
  ["colour", 39, (code) => (code >= 30 && code <= 38) || (code >= 90 && code <= 97)],
  ["background", 49, (code) => (code >= 40 && code <= 48) || (code >= 100 && code <= 107)],
];

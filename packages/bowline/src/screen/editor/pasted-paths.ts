/** Recognises paths of image files in a paste: a file that is dropped on a terminal is its path. */
import { fileURLToPath } from "node:url";

const MAX_CHARACTERS = 4096;
const WORD = /'([^'\n]*)'|"([^"\n]*)"|((?:\\.|[^\s\\'"])+)/g;

/** Returns the paths if the paste is nothing but paths and file URLs of images. */
export function pastedImagePaths(paste: string): string[] | undefined {
  const text = paste.trim();
  if (text === "" || text.length > MAX_CHARACTERS) return undefined;
  if (isImage(text) && /^(?:[/~.]|[A-Za-z]:\\)[^\n'"\\]*$/.test(text) && !/ [/~'"]/.test(text))
    return [text]; // a path whose spaces are not escaped
  const rest = text.replace(WORD, "");
  if (rest.trim() !== "") return undefined;
  const paths = [...text.matchAll(WORD)].map(
    ([, single, double, bare]) => single ?? double ?? bare?.replace(/\\(.)/g, "$1") ?? "",
  );
  const files = paths.map(fromUrl);
  return files.every((path) => path !== undefined && isImage(path))
    ? (files as string[])
    : undefined;
}

function fromUrl(path: string): string | undefined {
  if (!/^[a-z][a-z\d+.-]*:\/\//i.test(path)) return path;
  try {
    return fileURLToPath(path);
  } catch {
    return undefined; // another scheme, or a file of another host
  }
}

/** By its name: the content is checked when it is read. */
function isImage(path: string): boolean {
  return /\.(?:png|jpe?g|gif|webp)$/i.test(path);
}

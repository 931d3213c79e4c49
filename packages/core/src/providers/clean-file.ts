/** Prepares images and files for a wire: the form in which it takes them, a note, or an error. */
import { BowlineError } from "../errors.ts";
import type { FileContent, ImageContent, UserContent } from "../llm/message.ts";
import type { InputKind, Model } from "../llm/model.ts";
import { toWireJson } from "./wire-json.ts";

/**
 * Returns the part as it is sent. `takes` matches what the wire takes: `data:` or the scheme of a
 * URL, then the MIME type, such as `data:application/pdf`. A text file becomes a text part unless
 * the wire takes it. Becomes a note: a kind that is not in the model's `input`, so that a
 * conversation goes on with another model, and an image of an unknown type. Throws
 * `invalid_argument` for anything else that the wire does not take.
 */
export function cleanFile(
  part: ImageContent | FileContent,
  { api, input }: Model,
  takes: RegExp,
): UserContent {
  const { type, url, name = "", mimeType: given = "" } = part as Partial<FileContent>;
  const [, prefix, data] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(part.data ?? "") ?? [
    "",
    "",
    part.data,
  ];
  const mimeType = (prefix || given).toLowerCase().replace(/;.*/, "").replace("/jpg", "/jpeg");
  const kind = type === "file" ? kindOf(mimeType) : "image";
  const what = type === "file" ? `the file ${name} (${given})` : "an image";
  const note = (why: string): UserContent => ({
    type: "text",
    text: `[${what} was left out: ${why}]`,
  });
  if (kind && !input.includes(kind)) return note(`the model reads ${input.join(", ")} only`);
  const file = { ...part, type: kind === "image" ? kind : type, data, mimeType } as FileContent;
  const scheme = url === undefined ? "data" : url.split(":")[0];
  if (data !== "" && takes.test(`${scheme}:${mimeType || "image/"}`)) return file;
  if (url === undefined) {
    if (kind === "text")
      return {
        type: "text",
        text: `<file name=${toWireJson(name)}>\n${textOf(file)}\n</file>`,
      };
    if (kind === "image") return note(`${given} is not supported`);
  }
  throw refusal(
    `${api} cannot send ${what}${url ? ` by its ${scheme}: URL` : ""}. Remove it, or its kind from the model's input.`,
  );
}

/** Returns the kind of a file, as {@link Model.input} names it. Undefined for an unknown one. */
function kindOf(mimeType: string): InputKind | undefined {
  if (isTextType(mimeType)) return "text";
  return /^(?:image|audio|video)(?=\/)|(?<=^application\/)pdf$/.exec(mimeType)?.[0] as InputKind;
}

export function isTextType(mimeType: string): boolean {
  return /^text\/|^application\/json\b/i.test(mimeType);
}

/** Returns the text of a file. Throws `invalid_argument` if it is not base64 of UTF-8. */
export function textOf({ data = "", name = "" }: FileContent): string {
  try {
    const bytes = Uint8Array.from(atob(data), (unit) => unit.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw refusal(`The file ${name} is not UTF-8 in base64.`);
  }
}

function refusal(message: string): BowlineError {
  return new BowlineError("invalid_argument", message);
}

/** Prepares images and files for a wire: the form in which it takes them, a note, or an error. */
import { BowlineError } from "../errors.ts";
import type { FileContent, ImageContent, UserContent } from "../llm/message.ts";
import type { Model } from "../llm/model.ts";

/** The files that a wire takes, by MIME type. Text and images are not among them. */
export interface FileRules {
  /** Sent as base64. */
  readonly data: RegExp;
  /** Sent by their URL. Absent if the wire takes none. */
  readonly url?: RegExp;
  /** The start of the URLs that the server loads. Default: http and https. */
  readonly scheme?: RegExp;
  /** Whether the wire has a part for text files. Otherwise their text is sent as a text part. */
  readonly text?: true;
}

/** Names are cut, because servers limit them. */
const NAME_LENGTH = 200;

/**
 * Returns the part as it is sent. A kind that is not in the model's `input` becomes a note, so that
 * a conversation goes on with another model. Throws `invalid_argument` for what the wire cannot
 * send.
 */
export function cleanFile(
  part: ImageContent | FileContent,
  { api, input }: Model,
  { data: taken, url: takenUrls = /^$/, scheme = /^https?:/, text: hasTextPart }: FileRules,
): UserContent {
  const { url, name } = part as FileContent;
  const [, prefix, data] = /^data:([^;,]*)[^,]*,(.*)$/s.exec(part.data ?? "") ?? [
    "",
    "",
    part.data,
  ];
  const given = part.mimeType ?? "";
  const mimeType = (prefix || given)
    .replace(/;.*/s, "")
    .trim()
    .toLowerCase()
    .replace("image/jpg", "image/jpeg");
  const kind = part.type === "image" ? "image" : kindOf(mimeType);
  const note = (why: string): UserContent => ({
    type: "text",
    text: `[${kind === "image" ? "an image" : label(part)} was left out: ${why}]`,
  });
  if (kind !== undefined && !input.includes(kind))
    return note(`the model ${input.length > 1 ? `takes no ${kind}` : "reads text only"}`);
  if (kind === "image") {
    if (url === undefined)
      return data && /^image\/(?:jpeg|png|gif|webp)$/.test(mimeType)
        ? { type: "image", data, mimeType }
        : note(`${given} is not supported`);
    if (scheme.test(url)) return { type: "image", url, ...(mimeType && { mimeType }) };
  } else if (url === undefined) {
    const named = name ? { name: name.slice(0, NAME_LENGTH) } : {};
    const file = { type: "file", data: data ?? "", mimeType, ...named } as const;
    if (kind === "text") return hasTextPart ? file : { type: "text", text: asTextPart(file) };
    if (taken.test(mimeType)) return data ? file : note("it is empty");
  } else if (takenUrls.test(mimeType) && scheme.test(url)) {
    return { type: "file", url, mimeType };
  }
  throw new BowlineError(
    "invalid_argument",
    `${api} cannot send ${label(part)}${url === undefined ? "" : " by its url"}. Use another model or form, or leave ${kind ?? "it"} out of ${kind ? "the model's input to send a note instead" : "the message"}.`,
  );
}

/** Returns the kind of a file, as {@link Model.input} names it. Undefined for an unknown one. */
function kindOf(mimeType: string): Model["input"][number] | undefined {
  if (/^(?:text\/.+|application\/json)$/.test(mimeType)) return "text";
  if (mimeType === "application/pdf") return "pdf";
  return /^(?:image|audio|video)(?=\/)/.exec(mimeType)?.[0] as "audio" | undefined;
}

function label(part: ImageContent | FileContent): string {
  const name = part.type === "file" && part.name ? ` ${JSON.stringify(part.name)}` : "";
  return `the ${part.type}${name}${part.mimeType ? ` (${part.mimeType})` : ""}`;
}

/** Returns the text of a text file with its name. */
function asTextPart(file: FileContent): string {
  return `<file${file.name ? ` name=${JSON.stringify(file.name)}` : ""}>\n${textOf(file)}\n</file>`;
}

/** Returns the text of a file. Throws `invalid_argument` if it is not base64 of UTF-8. */
export function textOf(file: FileContent): string {
  try {
    const bytes = Uint8Array.from(atob(file.data ?? ""), (unit) => unit.charCodeAt(0));
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new BowlineError("invalid_argument", `${label(file)} is not UTF-8 in base64.`);
  }
}

/** A message that a page posted, as the gateway takes it. Refuses what the gateway would lose. */
import { BowlineError, type AgentMessage, type UserContent } from "@bowline/core";
import { fileTypes, imageTypes, type AttachmentType } from "../gateway/protocol/file-types.ts";
import type { Limits } from "../gateway/protocol/frame.ts";
import { bytesOf } from "../gateway/protocol/images.ts";
import type { Attachment, SendParams } from "../gateway/protocol/protocol.ts";

/** As in the schema of `Attachment`. */
const MAX_NAME_LENGTH = 200;
const types: readonly AttachmentType[] = [...imageTypes, ...fileTypes];

type MessageLimits = Pick<Limits, "maxMessageLength" | "maxAttachments" | "maxAttachmentBytes">;

/**
 * Returns the text of the message, its parts joined by line breaks, and its images and files in their
 * order. Throws `invalid_argument` for a message that the gateway would not take whole: other than one
 * message of the user, a part that is neither text nor data in Base64 of a type that it knows,
 * an empty message, or one beyond `limits`, which are those of the gateway if they are known.
 */
export function toSendParams(
  messages: readonly AgentMessage[],
  limits: MessageLimits | undefined,
): Pick<SendParams, "message" | "attachments"> {
  const [given] = messages;
  if (messages.length !== 1 || given?.role !== "user")
    throw refused("A chat sends one message of the user at a time.");
  const content = given.content as string | readonly UserContent[];
  const parts = typeof content === "string" ? [{ type: "text", text: content } as const] : content;
  const texts: string[] = [];
  const attachments: Attachment[] = [];
  for (const part of parts)
    if (part.type === "text") texts.push(part.text);
    else attachments.push(attachmentOf(part));
  const message = texts.join("\n");
  if (message === "" && attachments.length === 0) throw refused("The message is empty.");
  if (limits !== undefined) assertWithin(limits, message, attachments);
  return { message, ...(attachments.length > 0 && { attachments }) };
}

function attachmentOf(part: Exclude<UserContent, { type: "text" }>): Attachment {
  const { type, data, mimeType } = part;
  // A program without types may have made the message.
  if (type !== "image" && type !== "file")
    throw refused(`A part of the type ${JSON.stringify(type)} cannot be sent to the gateway.`);
  const name = type === "file" ? part.name : undefined;
  const what = name === undefined ? `The ${type}` : `The file ${JSON.stringify(name)}`;
  if (data === undefined)
    throw refused(
      `${what} is an address, and the gateway loads none. Send its data in a data: URL.`,
    );
  const known = types.find((one) => one === mimeType);
  if (known === undefined)
    throw refused(
      `${what} is of the type ${JSON.stringify(mimeType)}. The gateway takes ${types.join(", ")}.`,
    );
  if (data.length % 4 !== 0 || !/^[A-Za-z0-9+/]+={0,2}$/.test(data))
    throw refused(`${what} is not in Base64.`);
  return {
    mimeType: known,
    data,
    ...(name !== undefined && name !== "" && { name: name.slice(0, MAX_NAME_LENGTH) }),
  };
}

function assertWithin(
  { maxMessageLength, maxAttachments, maxAttachmentBytes }: MessageLimits,
  message: string,
  attachments: readonly Attachment[],
): void {
  if (message.length > maxMessageLength)
    throw refused(`The gateway takes messages of at most ${maxMessageLength} characters.`);
  if (attachments.length > maxAttachments)
    throw refused(`The gateway takes at most ${maxAttachments} files with a message.`);
  const bytes = attachments.reduce((sum, { data }) => sum + bytesOf(data), 0);
  if (bytes > maxAttachmentBytes)
    throw refused(
      `The files of the message have ${bytes} bytes. The gateway takes at most ${maxAttachmentBytes}.`,
    );
}

function refused(why: string): BowlineError {
  return new BowlineError("invalid_argument", why);
}

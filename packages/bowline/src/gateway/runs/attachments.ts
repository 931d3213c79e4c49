/**
 * Checks the images and files of a message against the limits and the model, and adds them to its
 * content.
 */
import { createHash } from "node:crypto";
import {
  whyNotSent,
  type FileContent,
  type ImageContent,
  type Model,
  type TextContent,
} from "@bowline/core";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import { bytesOf } from "../protocol/images.ts";
import type { Attachment } from "../protocol/protocol.ts";

type Attachments = readonly Attachment[] | undefined;

/** Throws `bad_params` for too many or too large attachments. */
export function checkAttachments(attachments: Attachments = [], limits: GatewayLimits): void {
  const { maxAttachments, maxAttachmentBytes } = limits;
  if (attachments.length > maxAttachments)
    throw refusal(`The message has too many attachments. At most ${maxAttachments} are allowed.`);
  const bytes = attachments.reduce((sum, { data }) => sum + bytesOf(data), 0);
  if (bytes > maxAttachmentBytes)
    throw refusal(
      `The attachments are too large. A message may have at most ${maxAttachmentBytes} bytes of attachments.`,
    );
  if (attachments.some(({ data }) => data.length % 4 !== 0))
    throw refusal("An attachment is not Base64.");
}

/**
 * Throws `bad_params` if the model or its wire does not take an attachment. Such an attachment would
 * fail this run and all later ones of the session. Accepts any attachment if the model is not known
 * yet.
 */
export function assertTaken(attachments: Attachments = [], model: Model | undefined): void {
  if (model === undefined) return;
  const { provider, id } = model;
  for (const attachment of attachments) {
    const part = partOf(attachment);
    if (part.type === "image" && !model.input.includes("image"))
      throw refusal(
        `${provider}/${id} takes no images. Send the message without images, or choose another model.`,
      );
    const why = whyNotSent(model, part);
    if (why !== undefined) throw refusal(`${provider}/${id} does not take an attachment: ${why}.`);
  }
}

export function contentOf(
  text: string,
  attachments: Attachments = [],
): string | (TextContent | ImageContent | FileContent)[] {
  if (attachments.length === 0) return text;
  const files = attachments.map(partOf);
  return text === "" ? files : [{ type: "text", text }, ...files];
}

function partOf({ mimeType, data, name }: Attachment): ImageContent | FileContent {
  if (mimeType.startsWith("image/")) return { type: "image", mimeType, data };
  return { type: "file", mimeType, data, ...(name !== undefined && { name }) };
}

/** Returns a hash that identifies the attachments. */
export function digestOf(attachments: Attachments): string | undefined {
  if (attachments === undefined) return undefined;
  const hash = createHash("sha256");
  for (const { mimeType, data, name } of attachments)
    hash.update(`${mimeType} ${data}${name === undefined ? "" : ` ${JSON.stringify(name)}`}\n`);
  return hash.digest("hex");
}

function refusal(message: string): GatewayError {
  return new GatewayError("bad_params", message, { issues: [{ path: "attachments", message }] });
}

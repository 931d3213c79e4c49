/**
 * Checks the images of a message against the limits and the model, and adds them to its content.
 */
import { createHash } from "node:crypto";
import type { ImageContent, Model, TextContent } from "@bowline/core";
import { GatewayError } from "../protocol/gateway-error.ts";
import type { GatewayLimits } from "../protocol/limits.ts";
import { bytesOf } from "../protocol/images.ts";
import type { Attachment } from "../protocol/protocol.ts";

type Attachments = readonly Attachment[] | undefined;

/** Throws `bad_params` for too many or too large attachments. */
export function checkAttachments(attachments: Attachments = [], limits: GatewayLimits): void {
  const { maxAttachments, maxAttachmentBytes } = limits;
  if (attachments.length > maxAttachments)
    throw refusal(`A message has ${maxAttachments} attachments at most.`);
  const bytes = attachments.reduce((sum, { data }) => sum + bytesOf(data), 0);
  if (bytes > maxAttachmentBytes)
    throw refusal(`Attachments have ${maxAttachmentBytes} bytes together at most.`);
  if (attachments.some(({ data }) => data.length % 4 !== 0))
    throw refusal("An attachment is not Base64.");
}

/**
 * Throws `bad_params` if the model takes no images. Accepts any attachment if the model is not
 * known yet.
 */
export function assertTaken(attachments: Attachments, model: Model | undefined): void {
  if (attachments === undefined || model === undefined || model.input.includes("image")) return;
  const { provider, id } = model;
  throw refusal(
    `${provider}/${id} takes no images. Send the message without images, or choose another model.`,
  );
}

export function contentOf(
  text: string,
  attachments: Attachments = [],
): string | (TextContent | ImageContent)[] {
  if (attachments.length === 0) return text;
  const images = attachments.map(({ mimeType, data }): ImageContent => ({
    type: "image",
    mimeType,
    data,
  }));
  return [{ type: "text", text }, ...images];
}

/** Returns a hash that identifies the attachments. */
export function digestOf(attachments: Attachments): string | undefined {
  if (attachments === undefined) return undefined;
  const hash = createHash("sha256");
  for (const { mimeType, data } of attachments) hash.update(`${mimeType} ${data}\n`);
  return hash.digest("hex");
}

function refusal(message: string): GatewayError {
  return new GatewayError("bad_params", message, { issues: [{ path: "attachments", message }] });
}

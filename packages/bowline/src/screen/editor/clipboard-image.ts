/** Reads an image from the clipboard by a program of the system. */
import { execFile } from "node:child_process";
import { CommandError } from "../../command-error.ts";
import type { DraftImage } from "./draft.ts";
import { MAX_IMAGE_BYTES } from "./image-file.ts";

/** Resolves to the output of a program; undefined if there is no such program. */
export type RunProgram = (
  command: string,
  args: readonly string[],
  signal: AbortSignal,
) => Promise<Buffer | undefined>;

export interface ClipboardOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly platform: NodeJS.Platform;
  readonly run: RunProgram;
  readonly typeOf: (bytes: Buffer) => string | undefined;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly read?: (output: Buffer) => Buffer;
}

const PATH_HINT = "Save the image to a file and paste its path.";

/** Throws `CommandError` if there is no image or no program for the clipboard. */
export async function clipboardImage(
  { env, platform, run, typeOf }: ClipboardOptions,
  signal: AbortSignal,
): Promise<DraftImage> {
  const programs = programsFor(platform, env);
  let hasRun = false;
  for (const { command, args, read = (bytes: Buffer) => bytes } of programs) {
    const output = await run(command, args, signal);
    if (output === undefined) continue;
    hasRun = true;
    const bytes = read(output);
    const mimeType = typeOf(bytes);
    if (mimeType !== undefined)
      return { mimeType, data: bytes.toString("base64"), bytes: bytes.length };
  }
  if (hasRun) throw new CommandError("The clipboard holds no image.");
  if (programs.length === 0 && (env.SSH_CONNECTION ?? env.SSH_TTY ?? "") !== "")
    throw new CommandError(`The clipboard is at the other end of ssh. ${PATH_HINT}`);
  const names = [...new Set(programs.map(({ command }) => command))].join(" or ");
  const missing = names === "" ? "no display to ask" : `${names} is not installed`;
  throw new CommandError(`The clipboard cannot be read: ${missing}. ${PATH_HINT}`);
}

function programsFor(platform: NodeJS.Platform, env: ClipboardOptions["env"]): Program[] {
  if (platform === "darwin")
    return [
      { command: "pngpaste", args: ["-"] },
      { command: "osascript", args: ["-e", "get the clipboard as «class PNGf»"], read: fromScript },
    ];
  return [
    ...((env.WAYLAND_DISPLAY ?? "") === ""
      ? []
      : [{ command: "wl-paste", args: ["--no-newline", "--type", "image/png"] }]),
    ...((env.DISPLAY ?? "") === ""
      ? []
      : [{ command: "xclip", args: ["-selection", "clipboard", "-t", "image/png", "-o"] }]),
  ];
}

/** AppleScript prints the bytes as `«data PNGf89504E47…»`. */
function fromScript(output: Buffer): Buffer {
  const hex = /«data PNGf([\dA-Fa-f]+)»/.exec(output.toString("utf8"))?.[1] ?? "";
  return Buffer.from(hex, "hex");
}

/** Runs a program for at most 5 seconds. A program that fails has an empty output. */
export const runProgram: RunProgram = (command, args, signal) =>
  new Promise((resolve, reject) => {
    execFile(
      command,
      args,
      { encoding: "buffer", maxBuffer: 2 * MAX_IMAGE_BYTES + 64, signal, timeout: 5000 },
      (error, stdout) => {
        const isMissing = (error as NodeJS.ErrnoException | null)?.code === "ENOENT";
        if (signal.aborted) reject(signal.reason as Error);
        else resolve(isMissing ? undefined : error === null ? stdout : Buffer.alloc(0));
      },
    );
  });

/**
 * Errors of the tools. The text starts with `Error: `, says what is wrong and where, and fits one
 * line.
 */
import { showPath } from "../escape.ts";

const NOT_UTF8 =
  " (\uFFFD may stand for bytes that are not UTF-8; a name with such bytes can be used with bash only)";

class ToolError extends Error {
  override readonly name = "ToolError";
}

/** Creates a tool's error. `message` is a sentence without the `Error: `. */
export function toolError(message: string, cause?: unknown): Error {
  return new ToolError(`Error: ${message}`, cause === undefined ? undefined : { cause });
}

/**
 * Returns the error for a file that another program changed. `given` is the path as the model wrote
 * it.
 */
export function changedMeanwhile({ given }: { readonly given: string }): Error {
  return toolError(`${showPath(given)} was changed by something else meanwhile; read it again`);
}

/** Converts an operating system error about `path` to a tool error. Tool errors pass unchanged. */
export function toToolError(thrown: unknown, path: string, missing = "file"): Error {
  if (thrown instanceof ToolError) return thrown;
  const { code } = thrown as { readonly code?: unknown };
  const shown = showPath(path);
  if (typeof code !== "string")
    return toolError(`Could not use ${shown}: ${showPath(String(thrown))}`, thrown);
  return toolError(describeCode(code, shown, missing) ?? `Could not use ${shown}: ${code}`, thrown);
}

/** Throws if the run was aborted or the tool timed out. */
export function stopIfAborted(signal: AbortSignal): void {
  if (signal.aborted) throw toolError(`Stopped: ${abortReason(signal)}`);
}

/** Returns the reason of a signal in one line. */
export function abortReason({ reason }: AbortSignal): string {
  return showPath(
    reason instanceof Error && reason.message !== "" ? reason.message : "the call was aborted",
  );
}

function describeCode(code: string, path: string, missing: string): string | undefined {
  switch (code) {
    case "ENOENT":
      return `No such ${missing}: ${path}${path.includes("\uFFFD") ? NOT_UTF8 : ""}`;
    case "EACCES":
    case "EPERM":
      return `Permission denied: ${path}`;
    case "EISDIR":
      return `${path} is a folder, not a file`;
    case "ENOTDIR":
      return `${path} leads through a file as if it were a folder`;
    case "ENAMETOOLONG":
      return `The name is too long: ${path}`;
    case "ELOOP":
      return `${path} leads through symbolic links in a circle`;
    case "ENXIO":
      return `${path} is not a regular file`;
    case "ENOSPC":
    case "EDQUOT":
      return `No space left to write ${path}`;
    case "EBUSY":
      return `${path} is held by the system, as a mounted file is, and cannot be replaced; bash can write into it`;
    case "EROFS":
      return `The file system is read-only: ${path}`;
    case "EMFILE":
    case "ENFILE":
      return `Too many open files to use ${path}; try again`;
    default:
      return undefined;
  }
}

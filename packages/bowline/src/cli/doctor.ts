/** `bowline doctor`: finds out what a model server can do and writes a profile for it. */
import { writeFile } from "node:fs/promises";
import { examine, isUsable, reportText, type DoctorResult } from "../doctor/index.ts";
import { createNetworkFetch } from "../network.ts";
import { parseDoctorOptions, type DoctorOptions } from "./doctor-options.ts";
import { CommandError, explained, UsageError } from "../command-error.ts";
import { exitCode } from "./exit.ts";
import { doctorHelp } from "./help.ts";
import { keyAdvice, type KeySource } from "../models/key-advice.ts";
import { onSignal } from "./on-signal.ts";
import { StatusLine } from "./status-line.ts";
import { oneLine, printableJson, styleFor } from "../terminal.ts";

/** Returns the exit code. Throws `UsageError` and `CommandError` for errors that fit one line. */
export async function doctor(args: readonly string[], host: NodeJS.Process): Promise<number> {
  const options = parseDoctorOptions(args);
  const { stdout, env } = host;
  if (options.help) {
    stdout.write(doctorHelp());
    return exitCode.done;
  }
  const result = await examined(options, keyOf(options, env), host);
  const written =
    options.write === undefined ? undefined : await writeProfile(options.write, result);
  if (options.json) stdout.write(`${printableJson(result, 2)}\n`);
  else stdout.write(reportText(result, styleFor(stdout, env), written));
  if (options.write !== undefined && written === undefined)
    host.stderr.write("bowline: no profile was written\n");
  if (wantsKey(result)) host.stderr.write(`bowline: ${keyAdvice(keySourceOf(options))}\n`);
  if (result.verdict.kind === "stopped") return exitCode.aborted;
  return isUsable(result) ? exitCode.done : exitCode.failed;
}

/**
 * Runs the examination. Ctrl-C ends the current request and shows the findings so far; a second
 * Ctrl-C exits at once.
 */
async function examined(
  { baseUrl, model, timeoutMs }: DoctorOptions,
  apiKey: string | undefined,
  host: NodeJS.Process,
): Promise<DoctorResult> {
  const { stderr, env } = host;
  const fetch = await explained(() => createNetworkFetch(env));
  const controller = new AbortController();
  const { dim } = styleFor(stderr, env);
  const progress = new StatusLine(stderr, env);
  const release = onSignal(host, () => controller.abort());
  try {
    return await examine({
      baseUrl,
      timeoutMs,
      fetch,
      signal: controller.signal,
      ...(model !== undefined && { model }),
      ...(apiKey !== undefined && { apiKey }),
      onProgress: (what, requests) => progress.show(`… ${what} (request ${requests + 1})`, dim),
    });
  } finally {
    progress.clear();
    release();
  }
}

/** Returns the file's name, or undefined if there was no profile to write. */
async function writeProfile(file: string, { profile }: DoctorResult): Promise<string | undefined> {
  if (profile === undefined) return undefined;
  try {
    await writeFile(file, `${JSON.stringify(profile, undefined, 2)}\n`);
    return file;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    throw new CommandError(
      `--write ${oneLine(file, 300)}: cannot be written (${code ?? message}).`,
    );
  }
}

function wantsKey({ findings }: DoctorResult): boolean {
  return findings.some(({ blocks, says }) => blocks === "use" && /\bHTTP 40[13]\b/.test(says));
}

/**
 * Describes where the key came from. A named key is always set here: `keyOf` throws if it is not.
 */
function keySourceOf({ apiKeyEnv, baseUrl }: DoctorOptions): KeySource {
  return apiKeyEnv === undefined ? { isSet: false, baseUrl } : { isSet: true, variable: apiKeyEnv };
}

function keyOf({ apiKeyEnv }: DoctorOptions, env: NodeJS.ProcessEnv): string | undefined {
  if (apiKeyEnv === undefined) return undefined;
  const key = env[apiKeyEnv]?.trim() ?? "";
  if (key === "") throw new UsageError(`--api-key-env: the variable ${apiKeyEnv} is not set.`);
  return key;
}

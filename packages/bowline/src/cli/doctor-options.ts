/** The options of `bowline doctor` and their parser. */
import { isHttp } from "../is-http.ts";
import { UsageError } from "../command-error.ts";
import { parseByTable, type Option } from "./options.ts";

export const doctorOptions: readonly Option[] = [
  {
    name: "model",
    short: "m",
    value: "id",
    help: "the server's id of the model to test (default the first it lists)",
  },
  { name: "api-key-env", value: "name", help: "the environment variable that holds the key" },
  { name: "timeout", value: "seconds", help: "time limit of one request (default 20)" },
  { name: "write", value: "file", help: "write a profile for bowline run --profile" },
  { name: "json", help: "print the whole result as JSON" },
  { name: "help", short: "h", help: "show this help" },
];

export interface DoctorOptions {
  readonly baseUrl: string;
  readonly model?: string;
  readonly apiKeyEnv?: string;
  readonly write?: string;
  readonly timeoutMs: number;
  readonly json: boolean;
  readonly help: boolean;
}

/** Throws `UsageError` with one line that says what is wrong. */
export function parseDoctorOptions(args: readonly string[]): DoctorOptions {
  const { values, positionals, text } = parseByTable(args, doctorOptions, "doctor");
  const [model, apiKeyEnv, write, timeout] = [
    text("model"),
    text("api-key-env"),
    text("write"),
    text("timeout"),
  ];
  const seconds = Number(timeout ?? 20);
  if (!Number.isFinite(seconds) || seconds <= 0)
    throw new UsageError(`--timeout takes a number above 0, not ${JSON.stringify(timeout)}.`);
  const help = values.help === true;
  return {
    baseUrl: help ? "" : address(positionals),
    timeoutMs: seconds * 1000,
    json: values.json === true,
    help,
    ...(model !== undefined && { model }),
    ...(apiKeyEnv !== undefined && { apiKeyEnv }),
    ...(write !== undefined && { write }),
  };
}

function address([baseUrl, ...more]: readonly string[]): string {
  if (baseUrl === undefined)
    throw new UsageError(
      "Which server? bowline doctor <base-url>, such as http://127.0.0.1:1234/v1",
    );
  if (more.length > 0)
    throw new UsageError(`bowline doctor takes one address, not also ${JSON.stringify(more[0])}.`);
  if (!isHttp(baseUrl))
    throw new UsageError(
      `bowline doctor takes an http or https address, not ${JSON.stringify(baseUrl)}.`,
    );
  const { username, password } = new URL(baseUrl);
  if (username !== "" || password !== "")
    throw new UsageError(
      "The address must not contain a user name or password. Pass a key with --api-key-env.",
    );
  return baseUrl;
}

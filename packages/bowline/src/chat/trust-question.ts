/** Asks whether a folder's settings, servers, hooks, commands, skills and agents may take effect. */
import type { Project } from "../project/project.ts";
import type { Colours } from "../screen/colours.ts";
import type { Input } from "../screen/input.ts";
import { wrapStyled } from "../screen/text/wrap.ts";
import { createTrustStore } from "../trust/trust-store.ts";
import { oneLine } from "../terminal.ts";
import type { Environment } from "./chat.ts";
import type { Conversation } from "./conversation.ts";
import type { Question } from "./question.ts";
import { askNumber } from "./plain-questions.ts";
import { choiceRows, firstRow, SafeChoice } from "./safe-choice.ts";

/** Files beyond this number are counted, not listed. */
const MAX_FILES = 40;

/** Resolves with true if the folder is trusted now, with exactly these files. */
export async function askTrust(
  chat: Conversation,
  project: Project,
  env: Environment,
  now: () => number,
): Promise<boolean> {
  chat.notice(describe(project));
  const question = new TrustQuestion(project.root, now(), chat.typedAt);
  const isTrusted = chat.screen.isPlain
    ? (await askNumber(chat.screen, `Trust ${oneLine(project.root, 200)}?`, labels)) === 1
    : await chat.ask(question);
  if (isTrusted) await createTrustStore({ env }).trust(project.root, project.wouldTakeEffect);
  const what = isTrusted
    ? "Trusted: these files take effect. A change of one of them asks again."
    : "Not trusted: instructions such as AGENTS.md are used as text, nothing else takes effect.";
  chat.notice(what);
  return isTrusted;
}

function describe({ root, trust, changes, wouldTakeEffect, programs }: Project): string {
  const head =
    trust === "changed"
      ? `${oneLine(root, 300)} has changed since you trusted it: ${changes.map((one) => oneLine(one, 200)).join(", ")}`
      : `${oneLine(root, 300)} brings files that would take effect:`;
  const files = wouldTakeEffect
    .slice(0, MAX_FILES)
    .map(({ kind, path, hash }) => `  ${kind}  ${oneLine(path, 300)}  sha256 ${hash.slice(0, 12)}`);
  const more = wouldTakeEffect.length - files.length;
  return [
    head,
    ...files,
    ...(more > 0 ? [`  and ${more} more; bowline trust lists them`] : []),
    ...(programs.length > 0 ? ["They start or reach:"] : []),
    ...programs.slice(0, MAX_FILES).map((line) => `  ${line}`),
    ...(programs.length > MAX_FILES ? [`  and ${programs.length - MAX_FILES} more`] : []),
  ].join("\n");
}

const labels = ["No, use AGENTS.md as text only", "Yes, these files as they are now"];

class TrustQuestion implements Question {
  readonly #root: string;
  readonly #choice: SafeChoice;
  #resolve: (isTrusted: boolean) => void = () => {};
  readonly answer: Promise<boolean> = new Promise((resolve) => (this.#resolve = resolve));

  constructor(root: string, now: number, typedAt: number) {
    this.#root = root;
    this.#choice = new SafeChoice(now, typedAt);
  }

  input(input: Input, now: number, hasDraft: boolean): ReturnType<Question["input"]> {
    const result = this.#choice.input(input, now, labels.length, hasDraft);
    if (result.type === "pass") return result;
    if (result.type === "chosen") this.#resolve(result.index === 1);
    return { type: "used" };
  }

  draw(
    columns: number,
    _: boolean,
    now: number,
    { bold, dim }: Colours,
    maxRows: number,
  ): string[] {
    const keys = this.#choice.isReady(now)
      ? "arrow or digit, then Enter"
      : "keys answer after a pause without typing";
    const title = wrapStyled(bold(`Trust ${oneLine(this.#root, 200)}?`), columns);
    const choices = (rows?: number): string[] =>
      choiceRows(labels, this.#choice.focus, columns, { bold }, rows);
    const whole = [...title, ...choices(), ...wrapStyled(dim(keys), columns)];
    return whole.length <= maxRows ? whole : [firstRow(title, columns), ...choices(maxRows - 1)];
  }
}

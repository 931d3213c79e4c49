/** Questions on a screen that only appends lines: numbered choices, answered by a typed number. */
import type { FullView, Screen } from "../screen/screen.ts";
import { oneLine } from "../terminal.ts";
import type { RuleScope } from "../policy/permissions.ts";
import type { ApprovalAnswer } from "./approval-dialog.ts";
import { PAUSE_MS } from "./safe-choice.ts";
import type { Asked } from "./state.ts";
import { callTitle } from "./tool-lines.ts";

/** Resolves with the index of the choice, or with undefined if the person interrupted. */
export async function askNumber(
  screen: Screen,
  title: string,
  labels: readonly string[],
  /** False while a line may have been typed before the question was seen. */
  isSeen: () => boolean = () => true,
): Promise<number | undefined> {
  const numbered = labels.map((label, index) => `${index + 1}. ${label}`);
  return screen.full(
    question([title, ...numbered, "Type a number and Enter."], (line) => {
      if (!isSeen())
        return { problem: "Nothing was answered: the question has only just appeared." };
      const number = /^\d+$/.test(line.trim()) ? Number(line) : 0;
      return labels[number - 1] === undefined
        ? { problem: `Nothing was answered: type a number from 1 to ${labels.length}.` }
        : { result: number - 1 };
    }),
  );
}

const scopes: readonly RuleScope[] = ["session", "project", "user"];

/** Resolves with undefined if the person interrupted. */
export async function askApproval(
  screen: Screen,
  { toolName, args, suggestions }: Asked,
  now: () => number,
): Promise<ApprovalAnswer | undefined> {
  const since = now();
  const by = (keys: string): string =>
    `terminal (${keys}; after ${((now() - since) / 1000).toFixed(1)} s)`;
  const rules = suggestions.slice(0, 3);
  const labels = [
    "No",
    "Yes",
    ...rules.map(({ rule }) => `Yes, and allow ${oneLine(rule, 200)} from now on`),
  ];
  const title = `Allow ${callTitle(toolName, args)}?`;
  const index = await askNumber(screen, title, labels, () => now() - since >= PAUSE_MS);
  if (index === undefined) return undefined;
  const keys = `number ${index + 1}, Enter`;
  if (index === 0) return { decision: "deny", by: by(keys), withDraft: false };
  const suggestion = rules[index - 2];
  if (suggestion === undefined) return { decision: "allow", by: by(keys) };
  const rule = await screen.full(
    question(
      [
        `Rule: ${oneLine(suggestion.rule, 400)}`,
        `It also allows: ${oneLine(suggestion.also, 400)}`,
        "Type another rule, or only Enter to keep this one.",
      ],
      (line) => ({ result: line.trim() === "" ? suggestion.rule : line.trim() }),
    ),
  );
  const scope =
    rule === undefined
      ? undefined
      : await askNumber(screen, "For whom?", [
          "this session",
          "this project",
          "you, in every folder",
        ]);
  if (rule === undefined || scope === undefined) return undefined;
  const remember = { rule, scope: scopes[scope] ?? "session" };
  return { decision: "allow", by: by(keys), remember };
}

function question<T>(
  lines: readonly string[],
  answer: (line: string) => { readonly result: T } | { readonly problem: string },
): FullView<T> {
  return {
    draw: () => ({ lines }),
    input: () => undefined,
    plain: { type: "question", lines, answer },
  };
}

/** Checks the hooks of a settings file, in the shape of Claude Code's. Nothing runs by this. */
import {
  hookEvents,
  type HookCommand,
  type HookEvent,
  type HookGroup,
  type HookSettings,
} from "./keys.ts";
import { whyNotMatcher } from "./hook-names.ts";
import { didYouMean } from "./nearest-name.ts";
import { isRecord, isRelativeProgram, isText, show, type Path } from "./shapes.ts";

interface HookProblem {
  readonly path: Path;
  readonly message: string;
}

export interface CheckedHooks {
  /** The hooks that can run as they are meant. */
  readonly hooks: HookSettings;
  /** What is unknown, and was left out. */
  readonly problems: readonly HookProblem[];
}

/** Events of Claude Code for which nothing runs here. */
const otherEvents: ReadonlySet<string> = new Set(
  (
    "SessionEnd Setup UserPromptExpansion PermissionRequest PermissionDenied PostToolUseFailure PostToolBatch Notification " +
    "MessageDisplay SubagentStart SubagentStop StopFailure PreCompact PostCompact TaskCreated TaskCompleted TeammateIdle " +
    "Elicitation ElicitationResult InstructionsLoaded ConfigChange CwdChanged FileChanged WorktreeCreate WorktreeRemove"
  ).split(" "),
);

const groupFields = ["matcher", "hooks"];
/** `statusMessage` is for a screen, and has no effect. */
const commandFields = ["type", "command", "timeout", "statusMessage"];

const MAX_GROUPS = 50;
const MAX_COMMANDS = 20;
const MAX_SECONDS = 3_600;

/**
 * Reads hooks. What is not understood is left out as a whole and reported: half a hook would do
 * something else than its author meant.
 */
export function readHooks(given: unknown, path: Path): CheckedHooks {
  const problems: HookProblem[] = [];
  const hooks: { [E in HookEvent]?: HookGroup[] } = {};
  const tell = (at: Path, message: string): undefined => void problems.push({ path: at, message });
  if (!isRecord(given)) {
    tell(path, `hooks takes an object of events, not ${show(given)}.`);
    return { hooks, problems };
  }
  for (const [event, groups] of Object.entries(given)) {
    const at = [...path, event];
    if (!isEvent(event)) tell(at, noEvent(event));
    else if (!Array.isArray(groups) || groups.length > MAX_GROUPS)
      tell(at, `${event} takes a list of at most ${MAX_GROUPS} groups with matcher and hooks.`);
    else
      hooks[event] = groups.flatMap(
        (group: unknown, index) => readGroup([...at, index], event, group, tell) ?? [],
      );
  }
  return { hooks, problems };
}

/** Returns the first hook that runs a file of the current folder; undefined if none does. */
export function relativeHook(hooks: HookSettings): string | undefined {
  return hookEvents
    .flatMap((event) => hooks[event] ?? [])
    .flatMap((group) => group.hooks.map(({ command }) => command))
    .find(isRelativeProgram);
}

type Tell = (path: Path, message: string) => undefined;

function isEvent(name: string): name is HookEvent {
  return hookEvents.some((known) => known === name);
}

function noEvent(name: string): string {
  return otherEvents.has(name)
    ? `Hooks for ${name} do not run here. Hooks run for ${hookEvents.join(", ")}.`
    : `There is no event ${show(name)}.${didYouMean(name, hookEvents)} Hooks run for ${hookEvents.join(", ")}.`;
}

function readGroup(
  path: Path,
  event: HookEvent,
  given: unknown,
  tell: Tell,
): HookGroup | undefined {
  if (!isRecord(given)) return tell(path, `A group of hooks takes an object, not ${show(given)}.`);
  const unknown = Object.keys(given).find((field) => !groupFields.includes(field));
  if (unknown !== undefined)
    return tell(
      [...path, unknown],
      `A group of hooks has no ${show(unknown)}.${didYouMean(unknown, groupFields)}`,
    );
  const { matcher, hooks } = given;
  if (matcher !== undefined && (typeof matcher !== "string" || matcher.length > 500))
    return tell([...path, "matcher"], `matcher takes a text, not ${show(matcher)}.`);
  const why = matcher === undefined ? undefined : whyNotMatcher(matcher, event);
  if (why !== undefined) return tell([...path, "matcher"], why);
  if (!Array.isArray(hooks) || hooks.length > MAX_COMMANDS)
    return tell(path, `A group takes in hooks a list of at most ${MAX_COMMANDS} commands.`);
  const commands = hooks.flatMap(
    (hook: unknown, index) => readCommand([...path, "hooks", index], hook, tell) ?? [],
  );
  return { ...(matcher !== undefined && { matcher }), hooks: commands };
}

function readCommand(path: Path, given: unknown, tell: Tell): HookCommand | undefined {
  if (!isRecord(given)) return tell(path, `A hook takes an object, not ${show(given)}.`);
  const { type, command, timeout } = given;
  if (type !== "command")
    return tell([...path, "type"], `Hooks run of the type "command" only, not ${show(type)}.`);
  const unknown = Object.keys(given).find((field) => !commandFields.includes(field));
  if (unknown !== undefined)
    return tell(
      [...path, unknown],
      `A hook has no ${show(unknown)}.${didYouMean(unknown, commandFields)}`,
    );
  if (!isText(command)) return tell(path, "A hook needs its command as a text.");
  const isTime = typeof timeout === "number" && timeout > 0 && timeout <= MAX_SECONDS;
  if (timeout !== undefined && !isTime)
    return tell(
      [...path, "timeout"],
      `timeout takes a number of seconds up to ${MAX_SECONDS}, not ${show(timeout)}.`,
    );
  return { type, command, ...(isTime && { timeout }) };
}

/** The reducer of a conversation's state. It is pure: the time is passed in. */
import { reduceEvent } from "./reduce-event.ts";
import { initialState, TAIL_CHARACTERS, type Action, type ChatState, type Step } from "./state.ts";

export function reduce(state: ChatState, action: Action, now: number): Step {
  switch (action.type) {
    case "event":
      return reduceEvent(state, action.event, now);
    case "ready":
      return only({ ...state, phase: "idle" });
    case "model": {
      const { model, contextWindow, why } = action;
      const { contextWindow: _, ...rest } = state;
      const next = { ...rest, model, ...(contextWindow !== undefined && { contextWindow }) };
      if (why === undefined) return only(next);
      return { state: next, blocks: [{ type: "model", model, why }] };
    }
    case "past":
      return only({ ...state, ...action.cost, ...contextIn(action) });
    case "uncompacted": {
      const { before, after } = action;
      const block = { type: "compaction_undone", before, after } as const;
      return { state: { ...state, contextTokens: after }, blocks: [block] };
    }
    case "sandbox":
      return only({ ...state, sandbox: action.sandbox });
    case "plan": {
      const { isOn } = action;
      const text = isOn
        ? "Plan mode is on: reading tools only. Shift-Tab or /plan leaves it."
        : "Plan mode is off: tools may change things again, as the permissions say.";
      const next = { ...state, isPlan: isOn };
      return { state: next, blocks: [{ type: "notice", level: "info", text }] };
    }
    case "queue": {
      const { aside: _, ...rest } = state;
      const { queue, aside } = action;
      return only({ ...rest, queue, ...(aside !== undefined && { aside }) });
    }
    case "asked": {
      const { asked } = action;
      const { toolName, args, reason, parts, suggestions: rules, change } = asked;
      const block = { type: "asked", toolName, args, reason, parts, rules } as const;
      return {
        state: { ...state, asked: [...state.asked, asked] },
        blocks: [{ ...block, ...(change !== undefined && { change }) }],
      };
    }
    case "interrupting":
      return only(state.phase === "working" ? { ...state, phase: "interrupting" } : state);
    case "shell":
      return only(withShell(state, action, now));
    case "shell_end":
      return only({ ...state, calls: state.calls.filter(({ id }) => id !== action.id) });
    case "hint":
      return only(withHint(state, action.text));
    case "block":
      return { state, blocks: [action.block] };
    case "reset":
      return only(asAtFirst(state));
  }
}

function withShell(
  state: ChatState,
  { id, command, output }: Extract<Action, { type: "shell" }>,
  now: number,
): ChatState {
  const before = state.calls.find((call) => call.id === id);
  const call = {
    id,
    name: "!",
    args: { command },
    startedAt: before?.startedAt ?? now,
    tail: output.slice(-TAIL_CHARACTERS),
    bytes: Math.max(before?.bytes ?? 0, output.length),
  };
  const others = state.calls.filter((one) => one !== before);
  return { ...state, calls: [...others, call] };
}

/** What another session keeps of this one: the model and the modes. */
function asAtFirst({ model, contextWindow, isPlan, sandbox, phase }: ChatState): ChatState {
  return {
    ...initialState(),
    phase,
    isPlan,
    ...(model !== undefined && { model }),
    ...(contextWindow !== undefined && { contextWindow }),
    ...(sandbox !== undefined && { sandbox }),
  };
}

function contextIn({
  contextTokens,
}: Pick<ChatState, "contextTokens">): Pick<ChatState, "contextTokens"> {
  return contextTokens === undefined ? {} : { contextTokens };
}

function withHint(state: ChatState, text: string | undefined): ChatState {
  const { hint: _, ...rest } = state;
  return text === undefined ? rest : { ...rest, hint: text };
}

function only(state: ChatState): Step {
  return { state, blocks: [] };
}

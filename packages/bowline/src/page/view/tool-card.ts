/** Shows one tool call: its arguments, state and result, and its approval question. */
import type { ComponentClass, VNode } from "preact";
import { useState } from "preact/hooks";
import { html } from "htm/preact";
import type { Approval } from "../../gateway/protocol/protocol.ts";
import type { AnswerView, ToolBlock } from "../state/run-view.ts";
import { visible } from "../text/visible.ts";
import { duration, argumentsLine, howItFailed } from "../text/wording.ts";
import { ApprovalQuestion } from "./approval.ts";
import { CopyButton } from "./code-block.ts";
import { Given, textPlace } from "./given.ts";
import { icon } from "./icon.ts";
import { memo } from "./memo.ts";

/** Lines and characters of an output that are shown before unfolding. */
const SHORT_LINES = 12;
const SHORT_LENGTH = 2000;

export interface ToolCardProps {
  readonly call: ToolBlock;
  readonly isRunOver: boolean;
  readonly approval: Approval | undefined;
  readonly answer: AnswerView | undefined;
  readonly isAnswering: boolean;
  readonly isReadOnly: boolean;
}

type Look = "waits" | "running" | "done" | "failed" | "stopped" | "left" | "denied" | "unknown";

const lookWords: Readonly<Record<Look, string>> = {
  waits: "Waits for you",
  running: "Running",
  done: "Done",
  failed: "Failed",
  stopped: "Stopped",
  left: "Left running",
  denied: "Denied",
  unknown: "No result",
};

export const ToolCard: ComponentClass<ToolCardProps> = memo(
  ({ call, approval, answer, isRunOver, isAnswering, isReadOnly }: ToolCardProps): VNode => {
    const { name, arguments: args, output, durationMs } = call;
    const look = lookOf(call, { approval, answer, isRunOver });
    const [chosen, choose] = useState<boolean>();
    const isOpen = chosen ?? ["running", "failed", "stopped", "left"].includes(look);
    return html`<section class="card is-${look}" aria-label=${`Tool call: ${name}`}>
      <details open=${isOpen}>
        <summary
          onClick=${(event: Event) => {
            event.preventDefault();
            choose(!isOpen);
          }}
        >
          <span class="look" aria-hidden="true"></span>
          <span class="tool-name">${visible(name)}</span>
          <span class="tool-line">${argumentsLine(args)}</span>
          <span class="tool-state"
            >${lookWords[look]}${durationMs !== undefined && ` · ${duration(durationMs)}`}</span
          >
          ${icon("chevron")}
        </summary>
        ${isOpen && html`<${CallBody} arguments=${args} output=${output} />`}
      </details>
      ${
        approval !== undefined &&
        html`<${ApprovalQuestion}
          approval=${approval}
          isAnswering=${isAnswering}
          isReadOnly=${isReadOnly}
        />`
      }
    </section>`;
  },
);

function CallBody({ arguments: args, output }: Pick<ToolBlock, "arguments" | "output">): VNode {
  const [isWhole, showWhole] = useState(false);
  const lines = output.split("\n").length;
  const isLong = lines > SHORT_LINES || output.length > SHORT_LENGTH;
  const shown =
    isLong && !isWhole ? output.split("\n", SHORT_LINES).join("\n").slice(0, SHORT_LENGTH) : output;
  return html`<div class="call">
    <div class="call-part"><span class="call-head">Arguments</span></div>
    <${Given} value=${args} label="Arguments" />
    <div class="call-part">
      <span class="call-head">Output</span>
      ${output !== "" && html`<${CopyButton} text=${output} what="output" />`}
    </div>
    ${textPlace(shown === "" ? "Nothing yet" : shown, "Output")}
    ${
      isLong &&
      html`<button
        type="button"
        class="quiet"
        aria-expanded=${isWhole}
        onClick=${() => showWhole(!isWhole)}
      >
        ${isWhole ? "Show less" : lines > SHORT_LINES ? `Show all ${lines} lines` : "Show all of it"}
      </button>`
    }
  </div>`;
}

function lookOf(
  { state, output }: ToolBlock,
  { approval, answer, isRunOver }: Pick<ToolCardProps, "approval" | "answer" | "isRunOver">,
): Look {
  if (approval !== undefined) return "waits";
  if (answer !== undefined && answer.decision !== "allow") return "denied";
  if (state === "running") return isRunOver ? "unknown" : "running";
  return state === "failed" ? howItFailed(output) : state;
}

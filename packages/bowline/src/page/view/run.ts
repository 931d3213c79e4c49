/** Shows one run: the message, the answer and its tool calls, and the end. */
import type { ComponentClass, VNode } from "preact";
import { html } from "htm/preact";
import type { Approval } from "../../gateway/protocol/protocol.ts";
import {
  canRetry,
  isOver,
  type RunView,
  type ShownBlock,
  type UserBlock,
} from "../state/run-view.ts";
import { Added } from "./added.ts";
import { CopyButton } from "./code-block.ts";
import { useTools } from "./context.ts";
import { icon } from "./icon.ts";
import { SentImages } from "./sent-images.ts";
import { Markdown } from "./markdown.ts";
import { memo } from "./memo.ts";
import { RunFooter } from "./run-footer.ts";
import { Thinking } from "./thinking.ts";
import { ToolCard } from "./tool-card.ts";

export interface RunProps {
  readonly run: RunView;
  readonly isLast: boolean;
  readonly approvals: readonly Approval[];
  readonly answering: ReadonlySet<string>;
  readonly isReadOnly: boolean;
  /** The notice that is already shown above the conversation. */
  readonly knownNotice: string | undefined;
}

export const Run: ComponentClass<RunProps> = memo((props: RunProps): VNode => {
  const { run, approvals, knownNotice } = props;
  const { blocks, notices, turns, state } = run;
  const over = isOver(run);
  const ids = new Set(
    blocks.flatMap((block) => (block.type === "tool_call" ? [block.toolCallId] : [])),
  );
  const own = approvals.filter(({ runId }) => runId === run.runId);
  // An approval can arrive before its tool call.
  const early = own.filter(({ toolCallId }) => !ids.has(toolCallId)).map(toBlock);
  const shown = [...blocks, ...early];
  const isQuiet = state === "running" && own.length === 0 && !isSpeaking(shown.at(-1));
  return html`<article class="run" aria-busy=${state === "running"}>
    ${shown.map((block, index) => html`<${BlockView} key=${index} block=${block} isGrowing=${!over && index === shown.length - 1} ...${props} />`)}
    ${notices
      .filter(({ message }) => message !== knownNotice)
      .map(
        ({ code, message }, index) =>
          html`<p key=${`${code}${index}`} class="notice">${message}</p>`,
      )}
    ${isQuiet && html`<p class="working"><span class="offscreen">Working</span><i></i><i></i><i></i></p>`}
    <${Ending} ...${props} />
    ${
      over &&
      html`<div class="run-foot">
        <${RunFooter} turns=${turns} />
        <div class="run-acts">
          ${!props.isReadOnly && html`<${ForkButton} runId=${run.runId} />`}<${CopyAnswer}
            blocks=${blocks}
          />
        </div>
      </div>`
    }
  </article>`;
});

/** A message may have nothing but what a program added to it. */
function isOfPerson({ text, images, files, added }: UserBlock): boolean {
  return text !== "" || images !== undefined || files !== undefined || added === undefined;
}

function BlockView({
  block,
  run,
  isGrowing,
  approvals,
  answering,
  isReadOnly,
}: RunProps & { block: ShownBlock; isGrowing: boolean }): VNode {
  switch (block.type) {
    case "user":
      return html`<div class="said">
        ${
          isOfPerson(block) &&
          html`<div class="asked">
            <h2 class="offscreen">You</h2>
            ${block.text !== "" && html`<p>${block.text}</p>`}
            <${SentImages} images=${block.images} files=${block.files} />
          </div>`
        }
        ${block.added && html`<${Added} added=${block.added} />`}
      </div>`;
    case "text":
      return html`<${Markdown} text=${block.text} isGrowing=${isGrowing} />`;
    case "thinking":
      return html`<${Thinking} text=${block.text} isGrowing=${isGrowing} />`;
    case "tool_call": {
      const { toolCallId } = block;
      const approval = approvals.find(
        (one) => one.runId === run.runId && one.toolCallId === toolCallId,
      );
      return html`<${ToolCard}
        call=${block}
        isRunOver=${isOver(run)}
        approval=${approval}
        answer=${run.answers.get(toolCallId)}
        isAnswering=${approval !== undefined && answering.has(approval.approvalId)}
        isReadOnly=${isReadOnly}
      />`;
    }
  }
}

/** Shows an end that is not a success, with a way to retry. */
function Ending({ run, isLast, isReadOnly }: RunProps): VNode | undefined {
  const { controller } = useTools();
  const text = endText(run);
  if (text === undefined) return undefined;
  const isFailure = run.state === "error";
  return html`<div class=${isFailure ? "ending is-failure" : "ending"}>
    ${isFailure && icon("alert")}
    <p>${text}</p>
    ${
      isLast &&
      !isReadOnly &&
      run.state !== "final" &&
      canRetry(run) &&
      html`<button type="button" onClick=${() => controller.retry(run)}>
        ${run.state === "error" ? "Try again" : "Ask again"}
      </button>`
    }
  </div>`;
}

function endText({ state, failure, stopReason }: RunView): string | undefined {
  switch (state) {
    case "error":
      return failure?.message ?? "The run failed.";
    case "aborted":
      return "Stopped.";
    case "interrupted":
    case "unknown":
      return "This run was interrupted before it was done.";
    case "final":
      if (stopReason === "length") return "The answer was cut: it reached the model's limit.";
      return stopReason === "budget"
        ? "The run reached a limit of this server and ended."
        : undefined;
    case "queued":
    case "running":
      return undefined;
  }
}

function ForkButton({ runId }: Pick<RunView, "runId">): VNode {
  const { controller, show } = useTools();
  const fork = async (): Promise<void> => {
    const made = await controller.forkAfter(runId);
    if (made !== undefined) show(made);
  };
  const what = "Continue from here in a new conversation";
  return html`<button type="button" class="quiet copy" title=${what} onClick=${() => void fork()}>
    ${icon("fork")}<span>Fork<span class="offscreen"> from here</span></span>
  </button>`;
}

function CopyAnswer({ blocks }: { readonly blocks: readonly ShownBlock[] }): VNode | undefined {
  const text = blocks.flatMap((block) => (block.type === "text" ? [block.text] : [])).join("\n\n");
  return text === "" ? undefined : html`<${CopyButton} text=${text} what="answer" />`;
}

/** Returns true if the block itself shows that the run is active. */
function isSpeaking(block: ShownBlock | undefined): boolean {
  return (
    block?.type === "text" ||
    block?.type === "thinking" ||
    (block?.type === "tool_call" && block.state === "running")
  );
}

function toBlock({ toolCallId, toolName: name, arguments: args }: Approval): ShownBlock {
  return { type: "tool_call", toolCallId, name, arguments: args, state: "running", output: "" };
}

/** The message being written, with its images, until it is sent. */
import { useEffect, useState } from "preact/hooks";
import type { ImageLimits } from "../choose-images.ts";
import type { Outgoing, SendMode } from "../state/outgoing.ts";
import { useTools } from "./context.ts";
import { useDraft, type Draft } from "./use-draft.ts";
import { useImages, type ImageDraft } from "./use-images.ts";

export interface MessageOptions {
  readonly sessionKey: string;
  readonly isRunning: boolean;
  readonly maxLength: number;
  readonly imageLimits: ImageLimits;
  /** A refused message with images. It returns to the form if the form is empty. */
  readonly refused: Outgoing | undefined;
}

export interface Message {
  readonly draft: Draft;
  readonly imageDraft: ImageDraft;
  /** How a message is sent while a run is active. */
  readonly mode: SendMode;
  readonly chooseMode: (mode: SendMode) => void;
  readonly isTooLong: boolean;
  readonly cannotSend: boolean;
  readonly send: () => void;
  /** Focuses the text field. */
  readonly focus: () => void;
}

export function useMessage(options: MessageOptions): Message {
  const { sessionKey, isRunning, maxLength, imageLimits, refused } = options;
  const { controller } = useTools();
  const draft = useDraft(sessionKey);
  const imageDraft = useImages(sessionKey, imageLimits);
  const [mode, chooseMode] = useSendMode();
  useRefused(refused, sessionKey, { draft, imageDraft });
  const { text, setText, field } = draft;
  const isTooLong = text.length > maxLength;
  const cannotSend = text.trim() === "" || isTooLong || imageDraft.isReading;
  const focus = (): void => field.current?.focus();
  const send = (): void => {
    if (cannotSend) return;
    const ready = imageDraft.images.map((image) => image.ready);
    controller.send(text.trim(), isRunning ? mode : "send", ready);
    setText("");
    imageDraft.clear();
    imageDraft.forgetProblem();
    focus();
  };
  return { draft, imageDraft, mode, chooseMode, isTooLong, cannotSend, send, focus };
}

/** Stores the last chosen mode on this machine. */
function useSendMode(): readonly [mode: SendMode, chooseMode: (mode: SendMode) => void] {
  const { machine } = useTools();
  const [mode, setMode] = useState<SendMode>(() =>
    machine.get("mode") === "send" ? "send" : "steer",
  );
  const chooseMode = (chosen: SendMode): void => {
    setMode(chosen);
    machine.set("mode", chosen);
  };
  return [mode, chooseMode];
}

/** Puts a refused message with images back into an empty form. */
function useRefused(
  refused: Outgoing | undefined,
  sessionKey: string,
  { draft, imageDraft }: Pick<Message, "draft" | "imageDraft">,
): void {
  const { controller } = useTools();
  useEffect(() => {
    if (refused?.images === undefined || !draft.isEmpty() || imageDraft.images.length > 0) return;
    draft.setText(refused.text);
    imageDraft.putBack(refused.images, `Not sent: ${refused.problem}`);
    controller.dismiss(refused);
  }, [refused?.id, sessionKey]);
}

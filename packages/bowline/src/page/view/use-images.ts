/**
 * Images of the message being written, by session. They do not survive a reload, because session
 * storage is too small.
 */
import { useRef, useState } from "preact/hooks";
import { createKey } from "../../gateway/client/create-key.ts";
import {
  addImages,
  fitImages,
  reopen,
  type ChosenImage,
  type ImageLimits,
} from "../choose-images.ts";
import type { ReadyImage } from "../state/sent-image.ts";

export interface ImageDraft {
  readonly images: readonly ChosenImage[];
  /** True while images are being read. */
  readonly isReading: boolean;
  readonly problem: string | undefined;
  readonly add: (files: readonly File[]) => void;
  readonly remove: (id: string) => void;
  readonly clear: () => void;
  /** Restores the images of a refused message. */
  readonly putBack: (images: readonly ReadyImage[], problem: string) => void;
  readonly forgetProblem: () => void;
}

const none: readonly ChosenImage[] = [];

export function useImages(sessionKey: string, limits: ImageLimits): ImageDraft {
  const kept = useRef(new Map<string, readonly ChosenImage[]>());
  const work = useRef(Promise.resolve());
  const [, draw] = useState(0);
  const [reading, setReading] = useState(0);
  const [problem, setProblem] = useState<{ readonly sessionKey: string; readonly text: string }>();
  const say = (text: string | undefined): void =>
    setProblem(text === undefined ? undefined : { sessionKey, text });
  const now = (): readonly ChosenImage[] => kept.current.get(sessionKey) ?? none;
  const keep = (images: readonly ChosenImage[]): void => {
    if (images.length === 0) kept.current.delete(sessionKey);
    else kept.current.set(sessionKey, images);
    draw((count) => count + 1);
  };
  /** Changes run one after another, because each depends on the previous result. */
  const change = (act: () => Promise<void>): void => {
    setReading((count) => count + 1);
    work.current = work.current
      .then(act)
      .catch((error: Error) => say(error.message))
      .finally(() => setReading((count) => count - 1));
  };
  return {
    images: now(),
    isReading: reading > 0,
    problem: problem?.sessionKey === sessionKey ? problem.text : undefined,
    add: (files) =>
      change(async () => {
        const choice = await addImages(now(), files, limits, createKey);
        keep(choice.images);
        say(choice.problem);
      }),
    remove: (id) =>
      change(async () => {
        const left = now().filter((image) => image.id !== id);
        keep(left);
        say(undefined);
        // The remaining images may use the freed space.
        keep(await fitImages(left, limits));
      }),
    clear: () => keep(none),
    putBack: (images, text) => {
      keep(images.map((image) => reopen(image, createKey())));
      say(text);
    },
    forgetProblem: () => say(undefined),
  };
}

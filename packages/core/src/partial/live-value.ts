/**
 * Builds one live value from JSON that is still arriving, and the increments by which a reader can
 * build the same. A string grows. Everything else appears when it is complete; an object or array
 * appears when it begins.
 */
import { GrowingText } from "../llm/growing-text.ts";
import { setOwn, type Increment, type PartialPath } from "./increment.ts";
import type { JsonHandler } from "./json-parser.ts";
import type { SchemaPosition } from "./schema-position.ts";

/** The live value. One shared object for all events of an attempt. */
export interface Live {
  value: unknown;
}

/** Where a value stands. */
interface Place {
  /** The container to assign to. Undefined for the whole value. */
  readonly parent: object | undefined;
  readonly key: string | number;
  readonly path: PartialPath;
  readonly position: SchemaPosition | undefined;
  /** Whether the value is left out: it, or a value before it, is not one that the schema lists. */
  readonly isHidden: boolean;
}

interface Frame {
  readonly place: Place;
  readonly container: object;
  /** The key of the next value. */
  key: string | number;
  /** Whether the rest of an array is left out. An array has no gaps. */
  isCut: boolean;
}

interface OpenText {
  readonly place: Place;
  readonly isHeld: boolean;
  readonly text: GrowingText;
  value: string;
  isShown: boolean;
}

/** Called for each complete item of an array. */
export type ItemListener = (array: PartialPath, index: number, item: unknown) => void;

export interface LiveValueOptions {
  /** The schema of the whole text. Default: any value may be shown. */
  readonly position?: SchemaPosition | undefined;
  readonly onItem?: ItemListener | undefined;
  /** The property that holds the value, if the text is an object around it. */
  readonly wrapper?: string | undefined;
  /** Whether to build the value alone, without increments. Default false. */
  readonly isSilent?: boolean | undefined;
}

export class LiveValue implements JsonHandler {
  readonly live: Live = { value: undefined };
  readonly #position: SchemaPosition | undefined;
  readonly #onItem: ItemListener | undefined;
  readonly #wrapper: string | undefined;
  readonly #isSilent: boolean;
  readonly #frames: Frame[] = [];
  #text: OpenText | undefined;
  #increments: Increment[] = [];

  constructor({ position, onItem, wrapper, isSilent = false }: LiveValueOptions = {}) {
    this.#position = position;
    this.#onItem = onItem;
    this.#wrapper = wrapper;
    this.#isSilent = isSilent;
  }

  /** Returns the increments since the last call. */
  take(): Increment[] {
    const increments = this.#increments;
    this.#increments = [];
    return increments;
  }

  open(isObject: boolean): void {
    const place = this.#place();
    const container: object = isObject ? {} : [];
    const isAllowed = place.position?.allowsContainer(isObject) ?? true;
    const here = isAllowed ? place : { ...place, isHidden: true };
    if (!this.#isWrapper()) this.#set(here, container, isObject ? {} : []);
    this.#frames.push({ place: here, container, key: isObject ? "" : 0, isCut: false });
  }

  close(): void {
    const frame = this.#frames.pop();
    if (frame) this.#ended(frame.place, frame.container);
  }

  key(name: string): void {
    const frame = this.#frames.at(-1);
    if (frame) frame.key = name;
  }

  text(piece: string): void {
    const open = (this.#text ??= this.#openText());
    open.value = open.text.append(piece);
    if (open.isHeld) return;
    const { place } = open;
    if (!open.isShown) this.#set(place, open.value, piece);
    else if (!place.isHidden) {
      this.#assign(place, open.value);
      this.#record({ op: "append", path: place.path, increment: piece });
    }
    open.isShown = true;
  }

  textEnd(): void {
    const { place, value, isShown } = (this.#text ??= this.#openText());
    this.#text = undefined;
    if (isShown) this.#ended(place, value);
    else this.scalar(value);
  }

  scalar(value: string | number | boolean | null): void {
    const place = this.#place();
    const isAllowed = place.position?.allows(value) ?? true;
    const here = isAllowed ? place : { ...place, isHidden: true };
    this.#set(here, value, value);
    this.#ended(here, value);
  }

  #openText(): OpenText {
    const place = this.#place();
    const isHeld = place.position?.holdsText ?? false;
    return { place, isHeld, text: new GrowingText(), value: "", isShown: false };
  }

  /** Whether the object that begins now only wraps the value. */
  #isWrapper(): boolean {
    return this.#wrapper !== undefined && this.#frames.length === 0;
  }

  /** Returns the place of the next value. */
  #place(): Place {
    const frame = this.#frames.at(-1);
    if (frame === undefined)
      return { parent: undefined, key: "", path: [], position: this.#position, isHidden: false };
    const { key, container, place, isCut } = frame;
    const position = place.position?.at(key);
    if (this.#wrapper !== undefined && this.#frames.length === 1)
      return { parent: undefined, key, path: [], position, isHidden: key !== this.#wrapper };
    const isHidden = place.isHidden || isCut;
    return {
      parent: container,
      key,
      path: isHidden || this.#isSilent ? [] : [...place.path, key],
      position,
      isHidden,
    };
  }

  #set(
    place: Place,
    value: unknown,
    increment: Extract<Increment, { op: "set" }>["increment"],
  ): void {
    if (place.isHidden) return;
    this.#assign(place, value);
    this.#record({ op: "set", path: place.path, increment });
  }

  #record(increment: Increment): void {
    if (!this.#isSilent) this.#increments.push(increment);
  }

  #assign({ parent, key }: Place, value: unknown): void {
    if (parent === undefined) this.live.value = value;
    else setOwn(parent, key, value);
  }

  #ended({ path, isHidden }: Place, value: unknown): void {
    const frame = this.#frames.at(-1);
    if (frame === undefined || typeof frame.key !== "number") return;
    if (isHidden) frame.isCut = true;
    else {
      if (this.#onItem) this.#onItem(path.slice(0, -1), frame.key, value);
      frame.key++;
    }
  }
}

/**
 * The messages that wait for their moment. The agent's queues hold the same messages, so that a
 * session has them; this list knows how they were typed, and those that no run can take yet.
 */
import type { Agent, UserMessage } from "@bowline/core";
import type { Moment } from "./block.ts";
import type { Draft } from "../screen/editor/draft.ts";
import type { PlanNote } from "./user-message.ts";

/** `early`: typed before a run could take it. */
export type WaitMoment = Moment | "early";

export interface WaitingMessage {
  /** Never used twice, so that a number on the screen cannot come to mean another message. */
  readonly id: number;
  readonly moment: WaitMoment;
  readonly draft: Draft;
  /** What the message tells the model about plan mode. */
  readonly note?: PlanNote | undefined;
  /** What the agent's queue has. Absent for an early message, and while it is held. */
  readonly message?: UserMessage | undefined;
  /** True while it is edited: no run takes it. */
  readonly isHeld?: boolean;
}

/** `taken`: the run has it. `gone`: it was sent or removed earlier. */
export type Missing = "taken" | "gone" | "unknown";

type Queues = Pick<Agent, "steer" | "followUp" | "unqueue">;
type NewMessage = Pick<WaitingMessage, "moment" | "draft" | "note" | "message">;

const ORDER: Readonly<Record<WaitMoment, number>> = { steering: 0, followUp: 1, early: 2 };

export class Waiting {
  readonly #agent: () => Queues | undefined;
  readonly #changed: () => void;
  /** Those of one moment are in the order in which they are sent. */
  #items: readonly WaitingMessage[] = [];
  #next = 1;

  constructor(agent: () => Queues | undefined, changed: () => void) {
    this.#agent = agent;
    this.#changed = changed;
  }

  /** In the order in which they are sent. */
  get items(): readonly WaitingMessage[] {
    return this.#items.toSorted((a, b) => ORDER[a.moment] - ORDER[b.moment]);
  }

  /** Whether a run can take one. */
  get isQueued(): boolean {
    return this.#items.some(({ message }) => message !== undefined);
  }

  find(id: number): WaitingMessage | Exclude<Missing, "taken"> {
    const found = this.#items.find((item) => item.id === id);
    return found ?? (id > 0 && id < this.#next ? "gone" : "unknown");
  }

  add(message: NewMessage): WaitingMessage {
    const item = { ...message, id: this.#next++ };
    this.#put([...this.#items, item]);
    this.#send(item);
    return item;
  }

  /** Forgets a message that the run has taken. */
  started(message: unknown): void {
    this.#put(this.#items.filter((item) => item.message === undefined || item.message !== message));
  }

  /** Keeps a message from being taken. It keeps its place. */
  hold(id: number): WaitingMessage | Missing {
    const item = this.find(id);
    if (typeof item === "string" || item.isHeld === true) return item;
    if (!this.#takeBack(item)) return "taken";
    const held = { ...item, message: undefined, isHeld: true };
    this.#put(this.#items.map((one) => (one === item ? held : one)));
    return held;
  }

  /** Lets a held message go, in its place; with another moment, as the last. */
  release(id: number, next: NewMessage): void {
    const place = this.#items.findIndex((one) => one.id === id);
    const item = { ...next, id };
    const others = this.#items.filter((one) => one.id !== id);
    const isMoved = this.#items[place]?.moment !== next.moment;
    this.#put(others.toSpliced(isMoved ? others.length : place, 0, item));
    this.#send(item);
  }

  /** Removes a message, so that it is not sent. */
  remove(id: number): WaitingMessage | Missing {
    const item = this.find(id);
    if (typeof item === "string") return item;
    if (!this.#takeBack(item)) return "taken";
    this.#put(this.#items.filter((one) => one !== item));
    return item;
  }

  /** Removes and returns the first early message that is not held. */
  takeEarly(): WaitingMessage | undefined {
    const due = this.#items.find(({ moment, isHeld }) => moment === "early" && isHeld !== true);
    if (due !== undefined) this.#put(this.#items.filter((item) => item !== due));
    return due;
  }

  /**
   * Removes and returns all messages that the run has not taken. With `isOver`, also those that it
   * has taken and not begun with: it will not.
   */
  takeAll(isOver: boolean): readonly WaitingMessage[] {
    const all = this.items;
    const back = all.filter((item) => this.#takeBack(item) || isOver);
    this.#put(this.#items.filter((item) => !back.includes(item)));
    return back;
  }

  /** Returns false if the run has taken the message. */
  #takeBack({ message }: WaitingMessage): boolean {
    return message === undefined || this.#agent()?.unqueue(message) === true;
  }

  #send(item: WaitingMessage): void {
    const { moment, message } = item;
    if (message === undefined || moment === "early") return;
    const later = this.#items.slice(this.#items.indexOf(item) + 1);
    const next = later.find((one) => one.moment === moment && one.message !== undefined);
    const place = { before: next?.message };
    if (moment === "steering") this.#agent()?.steer(message, place);
    else this.#agent()?.followUp(message, place);
  }

  #put(items: readonly WaitingMessage[]): void {
    this.#items = items;
    this.#changed();
  }
}

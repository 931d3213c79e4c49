/** Holds the page's state and notifies listeners at most once per frame. */
export class Store<State, Action> {
  readonly #reduce: (state: State, action: Action) => State;
  readonly #schedule: (draw: () => void) => void;
  readonly #listeners = new Set<() => void>();
  #state: State;
  #isScheduled = false;

  constructor(
    initial: State,
    reduce: (state: State, action: Action) => State,
    schedule: (draw: () => void) => void,
  ) {
    this.#state = initial;
    this.#reduce = reduce;
    this.#schedule = schedule;
  }

  get state(): State {
    return this.#state;
  }

  readonly dispatch = (action: Action): void => {
    const next = this.#reduce(this.#state, action);
    if (next === this.#state) return;
    this.#state = next;
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#schedule(() => {
      this.#isScheduled = false;
      for (const listener of this.#listeners) listener();
    });
  };

  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

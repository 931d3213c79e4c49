/**
 * Counts the steps that this process executes, and begins none while the process is about to stop. A
 * step that is cut is repeated elsewhere, so a model call would be billed twice.
 */

/** A step of a run. */
export interface GatedStep {
  /** Executes the step. Never settles once the gate is closed: another process executes it. */
  readonly run: <T>(work: () => Promise<T>) => Promise<T>;
  /** The engine has the step's result, or the attempt is over. */
  readonly done: () => void;
}

export class StepGate {
  #running = 0;
  #isClosed = false;
  readonly #waiting: (() => void)[] = [];

  step(): GatedStep {
    let isRunning = false;
    const done = (): void => {
      if (!isRunning) return;
      isRunning = false;
      this.#running--;
      this.#wake();
    };
    return {
      done,
      run: (work) => {
        if (this.#isClosed) return new Promise(() => {});
        isRunning = true;
        this.#running++;
        return work().catch((error: unknown) => {
          done(); // the engine attempts the step again
          throw error;
        });
      },
    };
  }

  /** Begins no further step. Resolves when the engine has the results of those that are running. */
  close(): Promise<void> {
    this.#isClosed = true;
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#wake();
    });
  }

  #wake(): void {
    if (!this.#isClosed || this.#running > 0) return;
    for (const go of this.#waiting.splice(0)) go();
  }
}
